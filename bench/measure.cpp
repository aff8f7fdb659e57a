#include "bench/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>

#include "bench/launch/launcher.hpp"
#include "bench/plan.hpp"
#include "bench/process.hpp"
#include "bench/worker_protocol.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

/// Ranks say why they give up before the launcher notices silence.
constexpr Seconds kGrace{10};

/// Everything one launch said.
struct LaunchLog {
  std::vector<Sample> samples;
  std::vector<FailureLine> failures;
  std::map<int, int> pids;       ///< by rank
  std::map<int, int> last_step;  ///< by rank
  int done = 0;
};

void note(LaunchLog& log, int, const HelloLine& hello) {
  log.pids[hello.rank] = hello.pid;
  log.last_step.try_emplace(hello.rank, -1);
}

void note(LaunchLog& log, int launch, const StepLine& step) {
  log.last_step[step.rank] = step.iteration;
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
void note(LaunchLog& log, int, const FailureLine& failure) { log.failures.push_back(failure); }

/// `rank 1 was killed by signal 9`, from the words of mpirun; empty when it said no such thing.
std::string lost_rank(const std::string& errors) {
  static const std::regex kSignal(R"(rank (\d+) with PID \d+ on node \S+ exited\s+on signal (\d+))");
  static const std::regex kStatus(R"(Process name: \[\[\d+,\d+\],(\d+)\]\s+Exit code:\s+(\d+))");
  std::smatch match;
  if (std::regex_search(errors, match, kSignal))
    return fmt::format("rank {} was ended by signal {}", match[1].str(), match[2].str());
  if (std::regex_search(errors, match, kStatus))
    return fmt::format("rank {} ended with exit code {}", match[1].str(), match[2].str());
  return "";
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n\r-");
  if (end == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

/// Which ranks are behind the others, for a job that fell silent.
std::string behind(const LaunchLog& log, int processes) {
  if (static_cast<int>(log.pids.size()) < processes)
    return fmt::format("{} of {} ranks had started", log.pids.size(), processes);
  std::string text;
  int latest = -1;
  for (const auto& [rank, step] : log.last_step) latest = std::max(latest, step);
  for (const auto& [rank, step] : log.last_step)
    if (step < latest) text += fmt::format("{}rank {} after step {}", text.empty() ? "" : ", ", rank, step);
  return text.empty() ? fmt::format("all ranks after step {}", latest) : text;
}

struct Verdict {
  ExitCode code = ExitCode::good;
  std::string reason;
};

/// How a launch ended, in one line.
Verdict judge(const LaunchLog& log, const Exit& exit, int processes, Seconds silence) {
  if (!log.failures.empty()) {
    // Ranks that wait name each other in a chain; who names nobody and is named is the late one. All are told.
    std::string reason;
    for (const FailureLine& failure : log.failures)
      reason += fmt::format("{}rank {}: {}", reason.empty() ? "" : "; ", failure.rank, failure.message);
    return {static_cast<ExitCode>(log.failures.front().exit_code), reason};
  }
  if (exit.silent)
    return {ExitCode::lost_rank,
            fmt::format("no rank reported for {:.0f} s; last heard of {}", silence.value, behind(log, processes))};
  if (exit.code == 0 && log.done == processes) return {};
  const std::string lost = lost_rank(exit.error_tail);
  if (!lost.empty()) return {ExitCode::lost_rank, fmt::format("{}; last heard of {}", lost, behind(log, processes))};
  if (exit.code > 128) return {ExitCode::lost_rank, fmt::format("the process was ended by signal {}", exit.code - 128)};
  return {ExitCode::lost_rank,
          fmt::format("the job ended with exit code {}: {}", exit.code, last_line(exit.error_tail))};
}

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
    const Exit exit = run_process(spawn);
    result.samples.insert(result.samples.end(), log.samples.begin(), log.samples.end());
    if (exit.interrupted) break;
    const Verdict verdict = judge(log, exit, job.processes, spawn.silence);
    if (verdict.code == ExitCode::good) continue;
    std::vector<pid_t> left;
    for (const auto& [rank, pid] : log.pids) left.push_back(pid);
    kill_processes(left);
    result.status = CaseStatus::failed;
    result.failure = fmt::format("launch {}: {}", launch + 1, verdict.reason);
    result.exit_code = static_cast<int>(verdict.code);
    break;
  }
  return result;
}

}  // namespace hbench
