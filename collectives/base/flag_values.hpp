#pragma once

/// Values of flags that more than one folder reads; messages name the flag.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hbench {

/// `a,b,c` -> {"a", "b", "c"}. \throws Error (usage) for an empty item.
std::vector<std::string> split_list(std::string_view text, std::string_view flag);

/// `32K`, `128MiB`, `1G`: bytes, of powers of 1024. \throws Error (usage).
std::int64_t parse_size(std::string_view text, std::string_view flag);

}  // namespace hbench
