#pragma once

/// What a run adds to its cases: labels, and the machine on which they are timed.

#include <map>
#include <string>
#include <vector>

#include "analysis/records.hpp"

namespace hbench {

/// `{"branch=main", "commit=abc"}`, as `--label` takes them. \throws Error (usage) for what is no pair, a key of other
/// characters than letters, digits, `.`, `-` and `_`, an empty or unprintable value, and a key that is given twice.
std::map<std::string, std::string> parse_labels(const std::vector<std::string>& pairs);

/// The help text of `--label`.
inline constexpr const char* kLabelHelp =
    "KEY=VALUE to keep with the results, such as branch=main; commit=HASH names the measured code (repeatable)";

/// Gives a timed case the fingerprint of this machine, out of the run's environment, which then has it in words too.
void place_on_this_machine(Case& asked, Run& run);

}  // namespace hbench
