#include "bench/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace hbench {
namespace {

/// `rank 1 was ended by signal 9`, from the words of the launcher; empty when it said no such thing.
std::string lost_rank(const std::string& errors, const std::map<int, int>& pids) {
  static const std::regex kSignal(R"(rank (\d+) with PID \d+ on node \S+ exited\s+on signal (\d+))");
  static const std::regex kStatus(R"(Process name: \[\[\d+,\d+\],(\d+)\]\s+Exit code:\s+(\d+))");
  // MPICH's Hydra names the process, and tells a signal as an exit code.
  static const std::regex kHydra(R"(PID (\d+) RUNNING AT \S+\s+=\s+EXIT CODE: (\d+))");
  std::smatch match;
  if (std::regex_search(errors, match, kSignal))
    return fmt::format("rank {} was ended by signal {}", match[1].str(), match[2].str());
  if (std::regex_search(errors, match, kStatus))
    return fmt::format("rank {} ended with exit code {}", match[1].str(), match[2].str());
  if (!std::regex_search(errors, match, kHydra)) return "";
  const int pid = std::stoi(match[1].str());
  const auto rank = std::ranges::find_if(pids, [&](const auto& entry) { return entry.second == pid; });
  const std::string who = rank == pids.end() ? "a rank" : fmt::format("rank {}", rank->first);
  return fmt::format("{} ended with exit code {}", who, match[2].str());
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n\r-");
  if (end == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

/// Which ranks are behind the others, for a job that fell silent.
std::string behind(const Heard& heard, int processes) {
  if (static_cast<int>(heard.pids.size()) < processes)
    return fmt::format("{} of {} ranks had started", heard.pids.size(), processes);
  std::string text;
  for (const auto& [rank, state] : heard.states)
    if (state == 'T' || state == 'Z' || state == '\0')
      text += fmt::format("{}rank {} is {}", text.empty() ? "" : ", ", rank, state == 'T' ? "stopped" : "gone");
  if (!text.empty()) return text;
  int latest = -1;
  for (const auto& [rank, step] : heard.last_step) latest = std::max(latest, step);
  for (const auto& [rank, step] : heard.last_step)
    if (step < latest) text += fmt::format("{}rank {} after step {}", text.empty() ? "" : ", ", rank, step);
  if (!text.empty()) return text;
  return latest < 0 ? "all ranks at work" : fmt::format("all ranks after step {}", latest);
}

}  // namespace

void look_at_processes(Heard& heard) {
  for (const auto& [rank, pid] : heard.pids) heard.states[rank] = process_state(pid);
}

Ending judge(const Heard& heard, const Exit& exit, int processes, Seconds silence) {
  if (!heard.failures.empty()) {
    // Ranks that wait name each other in a chain; who names nobody and is named is the late one. All are told.
    std::string reason;
    for (const FailureLine& failure : heard.failures)
      reason += fmt::format("{}rank {}: {}", reason.empty() ? "" : "; ", failure.rank, failure.message);
    return {static_cast<ExitCode>(heard.failures.front().exit_code), reason};
  }
  if (exit.silent)
    return {ExitCode::lost_rank,
            fmt::format("no rank reported for {:.0f} s; last heard of {}", silence.value, behind(heard, processes))};
  if (exit.code == 0 && heard.complete) return {};
  const std::string lost = lost_rank(exit.error_tail, heard.pids);
  if (!lost.empty()) return {ExitCode::lost_rank, fmt::format("{}; last heard of {}", lost, behind(heard, processes))};
  if (exit.code > 128) return {ExitCode::lost_rank, fmt::format("the process was ended by signal {}", exit.code - 128)};
  const std::string words = last_line(exit.error_tail);
  return {ExitCode::lost_rank, fmt::format("the job ended with exit code {}{}", exit.code,
                                           words.empty() ? " and without a word" : ": " + words)};
}

}  // namespace hbench
