#include "bench/sweep/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "analysis/machine_load.hpp"
#include "bench/launch/nccl_log.hpp"
#include "bench/launch/process.hpp"
#include "bench/launch/start_ranks.hpp"
#include "bench/strategy.hpp"
#include "bench/sweep/load_watch.hpp"
#include "bench/sweep/plan.hpp"
#include "bench/worker/protocol.hpp"

namespace hbench {
namespace {

/// Everything one launch reported.
struct LaunchLog {
  std::vector<Sample> samples;
  RankReports reports;
  int done = 0;  ///< ranks
};

void note(LaunchLog& log, int, const HelloLine& hello) { log.reports.last_step.try_emplace(hello.rank, -1); }

void note(LaunchLog& log, int launch, const StepLine& step) {
  log.reports.last_step[step.rank] = step.iteration;
  Sample sample;
  sample.launch = launch;
  sample.rank = step.rank;
  sample.iteration = step.iteration;
  sample.warmup = step.warmup;
  sample.unit = "s";
  sample.metric = "step_seconds";
  sample.value = step.seconds;
  log.samples.push_back(sample);
  sample.metric = "ledger/exposed";
  sample.value = step.exposed;
  log.samples.push_back(sample);
}

/// What a rank reports beside its steps, such as the state of its GPU.
void note(LaunchLog& log, int launch, const SamplesLine& line) {
  std::ranges::move(samples_of(line, launch), std::back_inserter(log.samples));
}

void note(LaunchLog& log, int, const DoneLine&) { ++log.done; }
/// What `start_ranks` records, and what only collectives report.
template <class Line>
void note(LaunchLog&, int, const Line&) {}

}  // namespace

LaunchOutcome measure_launch(const Case& asked, const MeasureOptions& options, int launch) {
  const TrainingStrategy strategy = parse_strategy(asked);
  const bool alone = !strategy.communicates();
  const bool one_process = alone || strategy.executor->ranks_are_threads();
  const int ranks = strategy.world(asked.gpus, asked.gpus).ranks();
  const WorkOrder order{asked, options.warmup_steps, options.steps, options.budget, options.timeout};
  const NcclLog nccl(uses_nccl(asked), std::getenv("NCCL_DEBUG"));
  // One thread per rank: a rank stands for one GPU and must not grow when it is alone.
  std::map<std::string, std::string> environment = nccl.environment();
  environment.insert({{"OMP_NUM_THREADS", "1"}, {"OPENBLAS_NUM_THREADS", "1"}, {"MKL_NUM_THREADS", "1"}});
  const RankStart start{.launcher = one_process ? "local" : "mpirun",
                        .processes = one_process ? 1 : ranks,
                        .worker = {options.program, "worker", to_json(order)},
                        .environment = environment,
                        // When rank 0 hangs, the others wait for twice the time-out before they say so.
                        .timeout = options.timeout * (alone ? 1 : 2) + kGrace};
  LaunchLog log;
  const LoadWatch load;
  const JobOutcome job = start_ranks(start, options.host, log.reports, [&](const WorkerLine& line) {
    std::visit([&](const auto& each) { note(log, launch, each); }, line);
    log.reports.complete = log.done == ranks;
  });
  if (interrupted()) return {};
  if (job.code != ExitCode::good)
    return {{{.launch = launch,
              .metric = std::string(metric::kLaunchLost),
              .value = static_cast<double>(job.code),
              .unit = "exit code"}},
            job.code,
            fmt::format("launch {}: {}", launch + 1, job.reason)};
  std::ranges::move(load.samples(launch), std::back_inserter(log.samples));
  std::ranges::move(transport_samples(nccl.transports(), launch), std::back_inserter(log.samples));
  return {.samples = std::move(log.samples)};
}

CaseResult measure(const Case& asked, const MeasureOptions& options, const std::function<void(int)>& on_launch) {
  CaseResult result;
  result.asked = asked;
  for (int launch = 0; launch < options.launches && !interrupted(); ++launch) {
    on_launch(launch);
    LaunchOutcome outcome = measure_launch(asked, options, launch);
    std::ranges::move(outcome.samples, std::back_inserter(result.samples));
    if (outcome.code == ExitCode::good) continue;
    result.status = CaseStatus::failed;
    result.failure = outcome.reason;
    result.exit_code = static_cast<int>(outcome.code);
    break;
  }
  return result;
}

}  // namespace hbench
