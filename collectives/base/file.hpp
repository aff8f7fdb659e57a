#pragma once

/// Files: read, written, and, where they are for people, replaced: whole or not at all, and through to what is no file.

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

/// Writes `bytes` to what `file` names. A regular file, or what a symbolic link to one names, is replaced when all is
/// written, and keeps its mode; until then, and where that cannot be done, it stays as it is. A descriptor
/// (`/dev/stdout`, `/dev/fd/63`), a pipe, a socket or a terminal is written to; a pipe that nobody reads is waited for
/// for some seconds. Returns why it cannot be done, or an empty text.
std::string replace_file(const std::filesystem::path& file, std::string_view bytes);

/// Returns why `replace_file` could not begin, or an empty text; before long work. Changes nothing.
std::string why_not_replaceable(const std::filesystem::path& file);

/// An empty file of a random name in the folder of `target`, for who must write by name. Removed with this object,
/// unless it has replaced `target`.
class PartialFile {
 public:
  static constexpr std::string_view kBegin = ".hbench-";  ///< of the random name

  /// \throws std::runtime_error in the system's words.
  explicit PartialFile(std::filesystem::path target);
  ~PartialFile();
  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& target() const { return target_; }
  /// \throws std::runtime_error, for the rest of this class too.
  void write(std::string_view bytes);
  /// Lets the disk begin with what was written, and does not wait for it: writing and the disk go on side by side.
  void begin_sync();
  /// Returns when what was written is on the disk.
  void sync();
  /// Gives the file the target's name. Once.
  void replace_target();

 private:
  std::filesystem::path target_, path_;  ///< `path_` is empty once it has replaced the target
  int descriptor_ = -1;
};

/// Where temporary files belong: TMPDIR, or /tmp.
std::filesystem::path temporary_base();

/// A folder below TMPDIR, or /tmp, that goes with this object and with all that is in it.
class ScratchFolder {
 public:
  /// \throws Error (environment).
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hbench
