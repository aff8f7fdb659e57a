#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "bench/launch/host.hpp"
#include "bench/launch/job_folders.hpp"
#include "bench/launch/launcher.hpp"
#include "bench/launch/process.hpp"

namespace hbench {

/// A launcher about to be started: its command line and environment, and folders for its files that live as long as
/// this. What users have set themselves for the launcher stays, except TMPDIR, below which the folders are.
class JobSpawn {
 public:
  /// \param job without `as_root` and `forwarded`, which follow from `here` and the environment. \param environment of
  /// every process, added to ours. \throws Error (environment) when the launcher is missing, may not open the files
  /// that it needs, or has no folder for its own.
  JobSpawn(std::string_view launcher, Job job, const std::map<std::string, std::string>& environment, const Host& here);

  /// With `argv` and `environment`; what is done with its output is the caller's.
  Spawn spawn;

 private:
  std::optional<JobFolders> folders_;
};

}  // namespace hbench
