#pragma once

#include <string>

namespace hbench {

/// `text` as one word of a shell: as it is, in double quotes, or in single ones, whichever reads best.
std::string shell_word(const std::string& text);

}  // namespace hbench
