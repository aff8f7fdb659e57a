#pragma once

#include <cstdint>
#include <string_view>

namespace hbench {

/// A whole number from `least` to `most`. \throws Error (usage) that names the parameter.
std::int64_t parse_whole(std::string_view compressor, std::string_view field, std::string_view text, std::int64_t least,
                         std::int64_t most);

/// A number above 0 and at most 1. \throws Error (usage)
double parse_ratio(std::string_view compressor, std::string_view text);

/// A finite number from 0 on. \throws Error (usage)
float parse_magnitude(std::string_view compressor, std::string_view field, std::string_view text);

}  // namespace hbench
