#include "bench/launch/job_spawn.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <vector>

#include "collectives/base/table.hpp"

namespace hbench {
namespace {

void add_unless_set(std::map<std::string, std::string>& environment,
                    const std::map<std::string, std::string>& variables) {
  for (const auto& [name, value] : variables)
    if (name == "TMPDIR" || std::getenv(name.c_str()) == nullptr) environment.emplace(name, value);
}

/// Variables that ranks on other hosts need beside those of the job: no launcher but Open MPI's own names are passed on
/// by itself.
std::vector<std::string> forwarded_variables(const std::map<std::string, std::string>& of_the_job) {
  constexpr std::array<std::string_view, 5> kBeginnings{"HBENCH_", "NCCL_", "UCX_", "FI_", "LD_LIBRARY_PATH="};
  std::set<std::string> names;
  for (const auto& [name, value] : of_the_job) names.insert(name);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (std::ranges::any_of(kBeginnings, [&](std::string_view begin) { return text.starts_with(begin); }))
      names.emplace(text.substr(0, text.find('=')));
  }
  return {names.begin(), names.end()};
}

/// A launcher with too few open files may hang.
void require_open_files(const Launcher& launcher, int processes, const Host& here) {
  if (launcher.open_files == nullptr) return;
  const int needed = launcher.open_files(processes);
  if (here.open_files >= static_cast<std::uint64_t>(needed)) return;
  throw Error(ExitCode::environment,
              fmt::format("{} needs {} open files for {} ranks; the limit is {}", launcher.name, needed, processes,
                          here.open_files),
              fmt::format("raise it with 'ulimit -n {}', or start fewer ranks", needed));
}

}  // namespace

JobSpawn::JobSpawn(std::string_view name, Job job, const std::map<std::string, std::string>& environment,
                   const Host& here) {
  const Launcher& launcher = find_entry(launchers(), name, "launcher");
  const auto path = environment.find("PATH");
  if (const Availability there = launcher.availability(path == environment.end() ? here.path : path->second);
      !there.available)
    throw there.error("cannot start ranks");
  require_open_files(launcher, job.processes, here);
  job.as_root = here.as_root;
  job.forwarded = forwarded_variables(environment);
  spawn.argv = launcher.argv(job);
  spawn.environment = environment;
  if (launcher.environment == nullptr) return;
  folders_.emplace();
  add_unless_set(spawn.environment, launcher.environment(folders_->paths()));
}

}  // namespace hbench
