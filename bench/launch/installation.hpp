#pragma once

/// Where the parts of hbench lie: `bin/hbench`, `libexec/hbench/hbench-worker`, `hbench-trainer` beside it, and
/// `share/hbench` below one folder, where it is installed as where it is built (there `bench/hbench`). No path is
/// compiled in: the folder may be moved.

#include <filesystem>
#include <string>
#include <string_view>

#include "analysis/prediction/data.hpp"
#include "collectives/base/library.hpp"

namespace hbench {

struct Installation {
  /// What ranks run: `hbench-worker`. HBENCH_WORKER in the environment names another one.
  std::filesystem::path worker;
  /// What they go on as where they train: `hbench-trainer`.
  std::filesystem::path trainer;
  /// Cluster profiles and timelines. HBENCH_DATA in the environment names another folder.
  std::filesystem::path data;
};

/// Of the program `self`, whatever it is called; `variable` is such as getenv. Files need not be there.
Installation find_installation(const std::filesystem::path& self, const char* (*variable)(const char* name));

/// Of this process's program.
const Installation& installation();

/// The profiles and timelines of this process's program. \throws Error (environment) when they are gone.
Data load_data();

/// Whether `file` is a program that this user may run.
bool may_be_run(const std::string& file);

/// The file that a shell would run as `program`: itself when it names a folder, else the first of that name in the
/// folders of `path` (a PATH variable) that may be run. Empty when there is none.
std::string find_program(std::string_view program, std::string_view path);

/// Whether `program` stands in a folder of `path` and may be run.
bool on_path(std::string_view program, std::string_view path);

/// The same, with `cure` where it does not.
Availability program_availability(std::string_view program, std::string_view path, std::string_view cure);

}  // namespace hbench
