#include "bench/launch/start_ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

#include "analysis/records/machine_facts.hpp"
#include "bench/launch/job_folders.hpp"
#include "bench/launch/job_outcome.hpp"
#include "bench/launch/launcher.hpp"
#include "bench/launch/launcher_message.hpp"
#include "bench/launch/process.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/own_host.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

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

constexpr int kNoProgram = 127;
constexpr std::string_view kNoNetwork = ": it is down, or a firewall or --network-interface keeps it from this machine";

/// Why a host did not answer.
std::string failure_of(const Exit& exit, const std::string& host, Seconds timeout) {
  const std::string words = launcher_message(without_rank_tags(exit.error_head + exit.error_tail));
  if (exit.timed_out) {
    const std::string_view alone = host.empty() ? "" : kNoNetwork;
    return fmt::format("no answer within {:.0f} s{}", timeout.value, words.empty() ? std::string(alone) : ": " + words);
  }
  if (exit.code == 0 || !words.empty()) return exit.code == 0 ? "" : words;
  return exit.code == kNoProgram ? "no such program" : fmt::format("exit code {} without a message", exit.code);
}

HostAnswer ask(const std::string& name, Spawn& spawn, Seconds timeout) {
  HostAnswer answer{.host = name};
  RankLines lines([&](std::string_view line) { answer.lines.emplace_back(line), answer.at = wall_clock().value; });
  spawn.output_timeout = timeout;
  spawn.on_line = [&](std::string_view text) { lines.add(text); };
  try {
    answer.failure = failure_of(run_process(spawn), name, timeout);
  } catch (const Error& error) {
    answer.failure = error.what();
  }
  return answer;
}

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

}  // namespace

const std::string* HostAnswer::json_line() const {
  const auto found = std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with('{'); });
  return found == lines.end() ? nullptr : &*found;
}

std::vector<HostAnswer> ask_hosts(const Allocation& allocation, const HostQuestion& question, const Host& here) {
  std::vector<std::string> hosts;
  for (const AllocatedHost& host : allocation.hosts) hosts.push_back(host.name);
  if (hosts.empty()) hosts.emplace_back();
  std::deque<JobSpawn> jobs;  // with folders of their own: launchers that share one race to make what they put there
  for (const std::string& host : hosts)
    jobs.emplace_back(host.empty() ? "local" : allocation.launcher,
                      Job{.worker = question.program,
                          .host_of_rank = host.empty() ? std::vector<std::string>() : std::vector<std::string>{host},
                          .network = question.network},
                      question.environment, here);
  std::vector<HostAnswer> answers(hosts.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < answers.size(); ++i)
    threads.emplace_back([&, i] { answers[i] = ask(hosts[i], jobs[i].spawn, question.timeout); });
  threads.clear();
  return answers;
}

JobOutcome start_ranks(const RankStart& start, const Host& host, RankReports& reports,
                       const std::function<void(const WorkerLine&)>& on_line) {
  JobSpawn job(start.launcher,
               {.processes = start.processes,
                .oversubscribed = start.processes > host.cores,
                .worker = start.worker,
                .host_of_rank = start.host_of_rank,
                .network = start.network},
               start.environment, host);
  Spawn& spawn = job.spawn;
  spawn.argv.insert(spawn.argv.begin(), start.before.begin(), start.before.end());
  spawn.output_timeout = start.timeout;
  RankLines lines([&](std::string_view text) {
    const auto line = parse_worker_line(text);
    if (!line) return;
    record(reports, *line);
    on_line(*line);
  });
  spawn.on_line = [&](std::string_view text) { lines.add(text); };
  spawn.on_timeout = [&] { record_process_states(reports); };
  const RankGuard guard(reports);  // ends before the folders of `job` do
  Exit exit = run_process(spawn);
  if (exit.interrupted) return {};
  exit.error_head = without_rank_tags(exit.error_head);
  exit.error_tail = without_rank_tags(exit.error_tail);
  JobOutcome outcome = job_outcome(reports, exit, start.processes, start.timeout);
  outcome.reason = with_hosts(outcome.reason, start.host_of_rank);
  return outcome;
}

}  // namespace hbench
