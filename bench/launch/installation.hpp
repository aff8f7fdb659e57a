#pragma once

/// Where the parts of hbench lie: `bin/hbench`, `libexec/hbench/hbench-worker` and `share/hbench` below one folder,
/// where it is installed as where it is built (there `bench/hbench`). No path is compiled in: the folder may be moved.

#include <filesystem>

#include "analysis/prediction/data.hpp"

namespace hbench {

struct Installation {
  /// What ranks run: `hbench-worker`. HBENCH_WORKER in the environment names another one.
  std::filesystem::path worker;
  /// Cluster profiles and timelines. HBENCH_DATA in the environment names another folder.
  std::filesystem::path data;
};

/// Of the program `self`, whatever it is called; `variable` is such as getenv. Files need not be there.
Installation find_installation(const std::filesystem::path& self, const char* (*variable)(const char* name));

/// Of this process's program.
const Installation& installation();

/// The profiles and timelines of this process's program. \throws Error (environment) when they are gone.
Data load_data();

}  // namespace hbench
