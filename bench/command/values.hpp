#pragma once

/// Values of flags that several verbs have.

#include <string>
#include <string_view>
#include <vector>

#include "bench/command/arguments.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

/// `30s`, `500ms`: above 0. \throws Error (usage) that names the flag.
Seconds time_flag(const std::string& text, std::string_view flag);
/// `4h`, `90min`, `2d`: above 0. \throws Error (usage) that names the flag.
Seconds long_time_flag(std::string_view text, std::string_view flag);

/// A finite number above 0, of samples per second. (CLI11's PositiveNumber takes NaN, and its message prints the
/// largest double in full.)
Check positive_rate();

/// Adds `--workload`: a comma list of names, files, and transformers by their numbers, whose commas are their own.
void add_workloads(Arguments& app, std::vector<std::string>& workloads);

}  // namespace hbench
