#pragma once

/// Ranks of one job, from their start to their end.
///
/// A question to hosts: a program that each of them runs, and what it writes.

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/launch/allocation.hpp"
#include "bench/launch/host.hpp"
#include "bench/launch/job_outcome.hpp"
#include "bench/launch/launcher.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

/// What is started, and how long it may write nothing.
struct RankStart {
  std::string launcher;  ///< by name
  int processes = 1;
  std::vector<std::string> worker;                 ///< program and arguments of every process
  std::map<std::string, std::string> environment;  ///< added to ours
  Seconds timeout{0};                              ///< without a line of any rank; then all are stopped
  std::vector<std::string> host_of_rank = {};      ///< by rank, as `place_ranks` gives them; empty: all are here
  std::string network = {};                        ///< between hosts, as `Job::network`
  std::vector<std::string> before = {};            ///< words in front of the launcher's own: who starts the launcher
};

/// Ranks report why they give up before the parent, which waits for so much longer, stops them.
inline constexpr Seconds kGrace{10};

/// Runs the ranks to their end and returns how the job ended, with the host of each rank that it names; after Ctrl-C
/// (see `interrupted`) any outcome is good. No process of the job on this host stays behind, and no file of its
/// launcher. `reports` gets the ranks' processes and failures; `on_line` is called with every line of theirs, on this
/// thread, and must set `RankReports::complete`. \throws Error (environment) when the launcher is missing, may not open
/// the files that it needs, or has no folder for its own.
JobOutcome start_ranks(const RankStart& start, const Host& host, RankReports& reports,
                       const std::function<void(const WorkerLine& line)>& on_line);

/// What a program on one host wrote, started there by the launcher of ranks: what hinders that hinders a job as well.
struct HostAnswer {
  std::string host;                ///< as the allocation names it; empty: this machine, without a name
  std::string failure;             ///< why there is no answer, in a line; empty where there is one
  std::vector<std::string> lines;  ///< of its standard output
  double at = 0;                   ///< seconds since 1970, when the last line came

  /// The first line that is a JSON object: others are a library's warnings. Null where there is none.
  const std::string* json_line() const;
};

/// How hosts are asked.
struct HostQuestion {
  std::vector<std::string> program;  ///< with its arguments, as hosts find it
  std::string network;               ///< as `Job::network`
  Seconds timeout{15};               ///< of silence
  std::map<std::string, std::string> environment = {};
};

/// Starts one process on each host, all at once, and waits for all; on this machine alone where the allocation is
/// local. In the order of the hosts. \throws Error (environment) when the launcher is missing.
std::vector<HostAnswer> ask_hosts(const Allocation& allocation, const HostQuestion& question, const Host& here);

/// Folders in which one job's launcher and MPI library put their files, so that nothing of them stays behind when they
/// are killed before they can clean up. Makes them, and removes them with all that is in them. When hbench is killed, a
/// process that waits for that removes them; when that one is killed as well (a container's end), the next hbench does:
/// the folders' names hold the process that made them.
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
