#include "bench/launch/start_ranks.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "bench/launch/job_folders.hpp"
#include "bench/launch/launcher.hpp"
#include "bench/launch/rank_lines.hpp"
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
                              .worker = start.worker,
                              .host_of_rank = start.host_of_rank,
                              .forwarded = forwarded_variables(start.environment),
                              .network = start.network});
  spawn.environment = start.environment;
  spawn.output_timeout = start.timeout;
  RankLines lines([&](std::string_view text) {
    const auto line = parse_worker_line(text);
    if (!line) return;
    record(reports, *line);
    on_line(*line);
  });
  spawn.on_line = [&](std::string_view text) { lines.add(text); };
  spawn.on_timeout = [&] { record_process_states(reports); };
  std::optional<JobFolders> folders;
  if (launcher.environment != nullptr) {
    folders.emplace();
    add_unless_set(spawn.environment, launcher.environment(folders->paths()));
  }
  const RankGuard guard(reports);  // ends before its folders do
  Exit exit = run_process(spawn);
  if (exit.interrupted) return {};
  exit.error_head = without_rank_tags(exit.error_head);
  exit.error_tail = without_rank_tags(exit.error_tail);
  JobOutcome outcome = job_outcome(reports, exit, start.processes, start.timeout);
  outcome.reason = with_hosts(outcome.reason, start.host_of_rank);
  return outcome;
}

}  // namespace hbench
