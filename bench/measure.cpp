#include "bench/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "bench/nccl_log.hpp"
#include "bench/plan.hpp"
#include "bench/process.hpp"
#include "bench/start_ranks.hpp"
#include "bench/strategy.hpp"
#include "bench/worker_protocol.hpp"

namespace hbench {
namespace {

/// Everything one launch said.
struct LaunchLog {
  std::vector<Sample> samples;
  Heard heard;
  int done = 0;  ///< ranks
};

void note(LaunchLog& log, int, const HelloLine& hello) { log.heard.last_step.try_emplace(hello.rank, -1); }

void note(LaunchLog& log, int launch, const StepLine& step) {
  log.heard.last_step[step.rank] = step.iteration;
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

/// What a rank says beside its steps, such as the state of its GPU.
void note(LaunchLog& log, int launch, const SamplesLine& line) {
  std::ranges::move(samples_of(line, launch), std::back_inserter(log.samples));
}

void note(LaunchLog& log, int, const DoneLine&) { ++log.done; }
/// What is taken in already, and what only collectives say.
template <class Line>
void note(LaunchLog&, int, const Line&) {}

}  // namespace

CaseResult measure(const Case& asked, const MeasureOptions& options, const std::function<void(int)>& on_launch) {
  const bool alone = asked.strategy.algorithm == "none";
  const bool one_process = alone || executor_of(asked.training).ranks_are_threads();
  const int ranks = world_of(asked, asked.gpus).ranks();
  const WorkOrder order{asked,          options.warmup_steps, options.steps,
                        options.budget, options.timeout,      options.host.cores};
  const NcclLog nccl(uses_nccl(asked), std::getenv("NCCL_DEBUG"));
  // One thread per rank: a rank stands for one GPU and must not grow when it is alone.
  std::map<std::string, std::string> environment = nccl.environment();
  environment.insert({{"OMP_NUM_THREADS", "1"}, {"OPENBLAS_NUM_THREADS", "1"}, {"MKL_NUM_THREADS", "1"}});
  const RankStart start{.launcher = one_process ? "local" : "mpirun",
                        .processes = one_process ? 1 : ranks,
                        .worker = {options.program, "worker", to_json(order)},
                        .environment = environment,
                        // When rank 0 hangs, the others wait for twice the time-out before they say so.
                        .silence = options.timeout * (alone ? 1 : 2) + kGrace};

  CaseResult result;
  result.asked = asked;
  for (int launch = 0; launch < options.launches && !interrupted(); ++launch) {
    on_launch(launch);
    LaunchLog log;
    const Ending ending = start_ranks(start, options.host, log.heard, [&](const WorkerLine& line) {
      std::visit([&](const auto& said) { note(log, launch, said); }, line);
      log.heard.complete = log.done == ranks;
    });
    result.samples.insert(result.samples.end(), log.samples.begin(), log.samples.end());
    if (ending.code == ExitCode::good) continue;
    result.status = CaseStatus::failed;
    result.failure = fmt::format("launch {}: {}", launch + 1, ending.reason);
    result.exit_code = static_cast<int>(ending.code);
    break;
  }
  // Of all launches together, which were alike.
  std::ranges::move(transport_samples(nccl.transports(), 0), std::back_inserter(result.samples));
  return result;
}

}  // namespace hbench
