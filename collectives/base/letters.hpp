#pragma once

#include <string>

namespace hbench {

/// `text` with the small letters of ASCII; other characters stay as they are.
std::string lower_case(std::string text);

}  // namespace hbench
