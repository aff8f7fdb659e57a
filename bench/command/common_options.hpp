#pragma once

/// Labels of runs, as they are typed.
///
/// Values of flags that several verbs have.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/command/arguments.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

class Arguments;

/// `{"branch=main", "commit=abc"}`, as `--label` takes them. \throws Error (usage) for what is no pair, a key of other
/// characters than letters, digits, `.`, `-` and `_`, an empty or unprintable value, and a key that is given twice.
std::map<std::string, std::string> parse_labels(const std::vector<std::string>& pairs);

inline constexpr const char* kLabelHelp =
    "KEY=VALUE to keep with the results, such as branch=main; commit=HASH names the measured code (repeatable)";

/// Adds `--label`, which may be given several times. `labels` outlives the parsing.
void add_labels(Arguments& arguments, std::map<std::string, std::string>& labels, const char* help = kLabelHelp);

/// `30s`, `500ms`: above 0. \throws Error (usage) that names the flag.
Seconds time_flag(const std::string& text, std::string_view flag);
/// `4h`, `90min`, `2d`: above 0. \throws Error (usage) that names the flag.
Seconds long_time_flag(std::string_view text, std::string_view flag);

/// A finite number above 0, of samples per second. (CLI11's PositiveNumber takes NaN, and its message prints the
/// largest double in full.)
Check positive_rate();

/// Adds `--workload`: a comma list of names, files, and transformers by their numbers, whose commas are their own.
void add_workloads(Arguments& app, std::vector<std::string>& workloads);

class Arguments;

/// How much of its work a verb shows on standard error; answers and errors are printed by all three.
enum class Verbosity {
  quiet,    ///< nothing
  usual,    ///< a live line on a terminal, elsewhere a line each ten seconds
  verbose,  ///< each piece of work on a line of its own, with the time since the start
};

/// Adds `-q,--quiet` and `-v,--verbose`, of which one may be given. `value` outlives the parsing.
void add_verbosity(Arguments& arguments, Verbosity& value);

}  // namespace hbench
