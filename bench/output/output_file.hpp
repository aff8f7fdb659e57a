#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hbench {

/// Writes what a flag names, as `replace_file` does: whole or not at all; `flag` is what chooses another one. \throws
/// Error (environment).
void write_whole(const std::filesystem::path& file, const std::string& text, std::string_view flag);

/// Before long work: whether such a file can be written there. \throws Error (environment) as `write_whole` would.
void check_writable(const std::filesystem::path& file, std::string_view flag);

/// What came of `try_folder`.
struct FolderTrial {
  bool made = false;    ///< it was missing, and is there now
  std::string why_not;  ///< why no files can be written there, in the system's words; empty: they can
};
/// Before long work: makes the folder where it is missing, and writes a file there that it removes again.
FolderTrial try_folder(const std::filesystem::path& folder);

/// ISO 8601, UTC.
std::string now_utc();

}  // namespace hbench
