#include "bench/measure.hpp"

#include <fmt/format.h>

#include "bench/launch/launcher.hpp"
#include "bench/plan.hpp"
#include "bench/process.hpp"
#include "bench/verdict.hpp"
#include "bench/worker_protocol.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

/// Ranks say why they give up before the launcher notices silence.
constexpr Seconds kGrace{10};

/// Everything one launch said.
struct LaunchLog {
  std::vector<Sample> samples;
  Heard heard;
  int done = 0;
};

void note(LaunchLog& log, int, const HelloLine& hello) {
  log.heard.pids[hello.rank] = hello.pid;
  log.heard.last_step.try_emplace(hello.rank, -1);
}

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

void note(LaunchLog& log, int, const DoneLine&) { ++log.done; }
void note(LaunchLog& log, int, const FailureLine& failure) { log.heard.failures.push_back(failure); }
/// What only collectives say.
template <class Line>
void note(LaunchLog&, int, const Line&) {}

}  // namespace

CaseResult measure(const Case& asked, const MeasureOptions& options, const std::function<void(int)>& on_launch) {
  const bool alone = asked.strategy.algorithm == "none";
  const Launcher& launcher = find_entry(launchers(), alone ? "local" : "mpirun", "launcher");
  if (const Availability there = launcher.availability(options.path); !there.available)
    throw Error(ExitCode::environment, fmt::format("cannot start ranks: {}", there.reason), there.cure);

  const WorkOrder order{asked, options.warmup_steps, options.steps, options.budget, options.timeout, options.cores};
  Job job;
  job.processes = world_of(asked, asked.gpus).ranks();
  job.oversubscribed = job.processes > options.cores;
  job.as_root = options.as_root;
  job.worker = {options.program, "worker", to_json(order)};

  CaseResult result;
  result.asked = asked;
  for (int launch = 0; launch < options.launches && !interrupted(); ++launch) {
    on_launch(launch);
    LaunchLog log;
    Spawn spawn;
    spawn.argv = launcher.argv(job);
    // One thread per rank: a rank stands for one GPU and must not grow when it is alone.
    for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"})
      spawn.environment[name] = "1";
    // When rank 0 hangs, the others wait for twice the time-out before they say so.
    spawn.silence = options.timeout * (alone ? 1 : 2) + kGrace;
    spawn.on_line = [&](std::string_view text) {
      if (const auto line = parse_worker_line(text))
        std::visit([&](const auto& said) { note(log, launch, said); }, *line);
    };
    spawn.on_silence = [&] { look_at_processes(log.heard); };
    const Exit exit = run_process(spawn);
    log.heard.complete = log.done == job.processes;
    result.samples.insert(result.samples.end(), log.samples.begin(), log.samples.end());
    if (exit.interrupted) break;
    const Ending verdict = judge(log.heard, exit, job.processes, spawn.silence);
    if (verdict.code == ExitCode::good) continue;
    std::vector<pid_t> left;
    for (const auto& [rank, pid] : log.heard.pids) left.push_back(pid);
    kill_processes(left);
    result.status = CaseStatus::failed;
    result.failure = fmt::format("launch {}: {}", launch + 1, verdict.reason);
    result.exit_code = static_cast<int>(verdict.code);
    break;
  }
  return result;
}

}  // namespace hbench
