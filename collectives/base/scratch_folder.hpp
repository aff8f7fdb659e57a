#pragma once

#include <filesystem>

namespace hbench {

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
