#pragma once

/// Labels of runs, as they are typed.

#include <map>
#include <string>
#include <vector>

namespace hbench {

class Arguments;

/// `{"branch=main", "commit=abc"}`, as `--label` takes them. \throws Error (usage) for what is no pair, a key of other
/// characters than letters, digits, `.`, `-` and `_`, an empty or unprintable value, and a key that is given twice.
std::map<std::string, std::string> parse_labels(const std::vector<std::string>& pairs);

inline constexpr const char* kLabelHelp =
    "KEY=VALUE to keep with the results, such as branch=main; commit=HASH names the measured code (repeatable)";

/// Adds `--label`, which may be given several times. `labels` outlives the parsing.
void add_labels(Arguments& arguments, std::map<std::string, std::string>& labels, const char* help = kLabelHelp);

}  // namespace hbench
