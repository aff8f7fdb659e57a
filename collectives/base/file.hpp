#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace hbench {

/// Files that people write have less.
inline constexpr std::size_t kMostFileBytes = std::size_t{16} << 20;

/// The whole of a file. \throws Error (usage) that names it when it cannot be read, is no regular file (a pipe would be
/// waited for, a device never ends), or has more than `kMostFileBytes`.
std::string read_file(const std::filesystem::path& file);

/// Writes a file anew. Why that cannot be done, in the system's words; empty where it is done. What was written until
/// then stays.
std::string write_file(const std::filesystem::path& file, std::string_view bytes);

/// The first line of a file, such as the kernel's of one value, without its end; empty where there is none to be read.
std::string first_line(const std::filesystem::path& file);

}  // namespace hbench
