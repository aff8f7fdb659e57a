#pragma once

/// Words of command lines.

#include <string_view>

namespace hbench {

/// Whether an argument is this flag, with or without a value behind `=`.
bool is_flag(std::string_view argument, std::string_view flag);

}  // namespace hbench
