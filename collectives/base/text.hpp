#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hbench {

/// `text` with the small letters of ASCII; other characters stay as they are.
std::string lower_case(std::string text);

/// `1 run`, `3 runs`, `2 launches`.
std::string counted(std::int64_t number, std::string_view noun);

}  // namespace hbench
