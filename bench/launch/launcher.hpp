#pragma once

/// The family of launchers: how worker processes are started. Pure: a job in, an argument vector out;
/// `process.cpp` is the one file that spawns.

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/library.hpp"

namespace hbench {

/// Where a launcher is to put files; each is empty where there is none.
struct JobPaths {
  std::filesystem::path temporary;      ///< on a file system: session folders
  std::filesystem::path shared_memory;  ///< in memory: what ranks of one host share
};

/// What is to be started.
struct Job {
  int processes = 1;
  bool oversubscribed = false;  ///< more processes than cores
  bool as_root = false;
  std::vector<std::string> worker;  ///< program and arguments of every process
  /// By rank, as `place_ranks` gives them; empty: all are on this host.
  std::vector<std::string> host_of_rank = {};
  std::vector<std::string> forwarded = {};  ///< variables that ranks on other hosts need
  std::string network = {};                 ///< interface or subnet between hosts; empty: the launcher chooses
};

/// One entry of the family.
struct Launcher {
  std::string_view name;
  std::string_view summary;
  bool optional = false;  ///< only for a comparison that people may well do without
  /// Looks for the launcher's program on `path` (the PATH variable).
  Availability (*availability)(std::string_view path);
  std::vector<std::string> (*argv)(const Job& job);
  /// Open files that the launcher itself needs for a job; null: not known.
  int (*open_files)(int processes) = nullptr;
  /// Variables that make the launcher and its MPI library put their files there; null where they leave none.
  std::map<std::string, std::string> (*environment)(const JobPaths& paths) = nullptr;
};

/// The table, in the order in which `hbench list launchers` prints it.
std::span<const Launcher* const> launchers();

}  // namespace hbench
