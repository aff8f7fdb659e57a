#pragma once

/// What every TOML reader of hbench shares: parse errors and places in words.

#include <toml++/toml.h>
#include <string>
#include <string_view>

namespace hbench {

/// Where an error is, for people: `my.toml:12`.
std::string place_in(std::string_view file_name, const toml::node& node);

/// Parses TOML text. \throws Error (usage) with file and line.
toml::table parse_toml(std::string_view text, std::string_view file_name);

}  // namespace hbench
