#include "bench/launch/start_ranks.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "bench/launch/job_folders.hpp"
#include "bench/launch/launcher.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

void record(RankReports& reports, const WorkerLine& line) {
  if (const auto* hello = std::get_if<HelloLine>(&line)) reports.processes[hello->rank] = hello->process;
  if (const auto* failure = std::get_if<FailureLine>(&line)) reports.failures.push_back(*failure);
}

/// Kills what is left of the ranks, however the job is left.
class RankGuard {
 public:
  explicit RankGuard(const RankReports& reports) : reports_(reports) {}
  ~RankGuard() {
    for (const auto& [rank, process] : reports_.processes) kill_process(process);
  }
  RankGuard(const RankGuard&) = delete;
  RankGuard& operator=(const RankGuard&) = delete;

 private:
  const RankReports& reports_;
};

/// What users have set themselves for the launcher stays, except TMPDIR, below which the job's folder is.
void add_unless_set(std::map<std::string, std::string>& environment,
                    const std::map<std::string, std::string>& variables) {
  for (const auto& [name, value] : variables)
    if (name == "TMPDIR" || std::getenv(name.c_str()) == nullptr) environment.emplace(name, value);
}

/// A launcher with too few open files may hang.
void require_open_files(const Launcher& launcher, int processes, const Host& host) {
  if (launcher.open_files == nullptr) return;
  const int needed = launcher.open_files(processes);
  if (host.open_files >= static_cast<std::uint64_t>(needed)) return;
  throw Error(ExitCode::environment,
              fmt::format("{} needs {} open files for {} ranks; the limit is {}", launcher.name, needed, processes,
                          host.open_files),
              fmt::format("raise it with 'ulimit -n {}', or start fewer ranks", needed));
}

}  // namespace

JobOutcome start_ranks(const RankStart& start, const Host& host, RankReports& reports,
                       const std::function<void(const WorkerLine&)>& on_line) {
  const Launcher& launcher = find_entry(launchers(), start.launcher, "launcher");
  if (const Availability there = launcher.availability(host.path); !there.available)
    throw there.error("cannot start ranks");
  require_open_files(launcher, start.processes, host);
  Spawn spawn;
  spawn.argv = launcher.argv({.processes = start.processes,
                              .oversubscribed = start.processes > host.cores,
                              .as_root = host.as_root,
                              .worker = start.worker});
  spawn.environment = start.environment;
  spawn.output_timeout = start.timeout;
  spawn.on_line = [&](std::string_view text) {
    const auto line = parse_worker_line(text);
    if (!line) return;
    record(reports, *line);
    on_line(*line);
  };
  spawn.on_timeout = [&] { record_process_states(reports); };
  std::optional<JobFolders> folders;
  if (launcher.environment != nullptr) {
    folders.emplace();
    add_unless_set(spawn.environment, launcher.environment(folders->paths()));
  }
  const RankGuard guard(reports);  // ends before its folders do
  const Exit exit = run_process(spawn);
  if (exit.interrupted) return {};
  return job_outcome(reports, exit, start.processes, start.timeout);
}

}  // namespace hbench
