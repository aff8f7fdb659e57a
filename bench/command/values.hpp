#pragma once

/// Values of flags that several verbs have.

#include <string>
#include <string_view>

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

}  // namespace hbench
