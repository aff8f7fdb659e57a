#pragma once

/// Words of command lines.

#include <string>
#include <string_view>

namespace hbench {

/// `text` as one word of a shell: as it is, in double quotes, or in single ones, whichever reads best.
std::string shell_word(const std::string& text);

/// Whether an argument is this flag, with or without a value behind `=`.
bool is_flag(std::string_view argument, std::string_view flag);

}  // namespace hbench
