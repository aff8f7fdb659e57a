#pragma once

/// Values of flags that several verbs have.

#include <string>
#include <string_view>

#include "collectives/base/units.hpp"

namespace hbench {

/// `30s`, `500ms`: above 0. \throws Error (usage) that names the flag.
Seconds time_flag(const std::string& text, std::string_view flag);
/// `4h`, `90min`, `2d`: above 0. \throws Error (usage) that names the flag.
Seconds long_time_flag(std::string_view text, std::string_view flag);

}  // namespace hbench
