#pragma once

/// Folders in which one job's launcher and MPI library put their files, so that nothing of them stays behind when they
/// are killed before they can clean up.

#include <sys/types.h>

#include <filesystem>

namespace hbench {

/// Where a launcher is to put files; each is empty where there is none.
struct JobPaths {
  std::filesystem::path temporary;      ///< on a file system: session folders
  std::filesystem::path shared_memory;  ///< in memory: what ranks of one host share
};

/// Makes the folders, and removes them with all that is in them. When hbench is killed, a process that waits for that
/// removes them; when that one is killed as well (a container's end), the next hbench does: the folders' names hold the
/// process that made them.
class JobFolders {
 public:
  /// Below these two; without the second, in `paths().shared_memory` there is nothing and the library chooses.
  /// \throws Error (environment) that names the folder when the first cannot be written.
  JobFolders(const std::filesystem::path& temporary, const std::filesystem::path& shared_memory);
  /// Below TMPDIR, or /tmp, and /dev/shm.
  JobFolders();
  ~JobFolders();
  JobFolders(const JobFolders&) = delete;
  JobFolders& operator=(const JobFolders&) = delete;

  const JobPaths& paths() const { return paths_; }

 private:
  void start_cleaner();
  void stop_cleaner();

  JobPaths paths_;
  int cleaner_input_ = -1;  ///< its end says to the cleaner that this process has died
  pid_t cleaner_ = -1;
};

}  // namespace hbench
