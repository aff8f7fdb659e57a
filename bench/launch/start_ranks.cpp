#include "bench/launch/start_ranks.hpp"

#include "analysis/records/rank_hosts.hpp"
#include "bench/launch/job_spawn.hpp"
#include "bench/launch/rank_lines.hpp"

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

}  // namespace

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
