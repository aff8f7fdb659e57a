#include "bench/start_ranks.hpp"

#include <fmt/format.h>

#include "bench/launch/launcher.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

void take_in(Heard& heard, const WorkerLine& line) {
  if (const auto* hello = std::get_if<HelloLine>(&line)) heard.pids[hello->rank] = hello->pid;
  if (const auto* failure = std::get_if<FailureLine>(&line)) heard.failures.push_back(*failure);
}

}  // namespace

Ending start_ranks(const RankStart& start, const Host& host, Heard& heard,
                   const std::function<void(const WorkerLine&)>& on_line) {
  const Launcher& launcher = find_entry(launchers(), start.launcher, "launcher");
  if (const Availability there = launcher.availability(host.path); !there.available)
    throw there.error("cannot start ranks");
  Spawn spawn;
  spawn.argv = launcher.argv({.processes = start.processes,
                              .oversubscribed = start.processes > host.cores,
                              .as_root = host.as_root,
                              .worker = start.worker});
  spawn.environment = start.environment;
  spawn.silence = start.silence;
  spawn.on_line = [&](std::string_view text) {
    const auto line = parse_worker_line(text);
    if (!line) return;
    take_in(heard, *line);
    on_line(*line);
  };
  spawn.on_silence = [&] { look_at_processes(heard); };
  const Exit exit = run_process(spawn);
  if (exit.interrupted) return {};
  const Ending ending = judge(heard, exit, start.processes, start.silence);
  if (ending.code == ExitCode::good) return ending;
  std::vector<pid_t> left;
  for (const auto& [rank, pid] : heard.pids) left.push_back(pid);
  kill_processes(left);
  return ending;
}

}  // namespace hbench
