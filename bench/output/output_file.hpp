#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hbench {

/// Writes the file whole or not at all; `flag` is what chooses another one. \throws Error (environment).
void write_whole(const std::filesystem::path& file, const std::string& text, std::string_view flag);

/// Before long work: whether such a file can be written there. \throws Error (environment) as `write_whole` would.
void check_writable(const std::filesystem::path& file, std::string_view flag);

/// ISO 8601, UTC.
std::string now_utc();

}  // namespace hbench
