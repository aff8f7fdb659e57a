#include "bench/launch/job_outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "bench/launch/launcher_message.hpp"

namespace hbench {
namespace {

constexpr int kLastSignal = 64;

/// `rank 1 was ended by signal 9`, from the messages of the launcher; empty when none says so.
std::string lost_rank(const std::string& errors, const std::map<int, ProcessIdentity>& processes) {
  static const std::regex kSignal(R"(rank (\d+) with PID \d+ on node \S+ exited\s+on signal (\d+))");
  static const std::regex kStatus(R"(Process name: \[\[\d+,\d+\],(\d+)\]\s+Exit code:\s+(\d+))");
  // MPICH's Hydra names the process, and gives a signal as an exit code.
  static const std::regex kHydra(R"(PID (\d+) RUNNING AT \S+\s+=\s+EXIT CODE: (\d+))");
  std::smatch match;
  if (std::regex_search(errors, match, kSignal))
    return fmt::format("rank {} was ended by signal {}", match[1].str(), match[2].str());
  if (std::regex_search(errors, match, kStatus))
    return fmt::format("rank {} ended with exit code {}", match[1].str(), match[2].str());
  if (!std::regex_search(errors, match, kHydra)) return "";
  const int pid = std::stoi(match[1].str());
  const auto rank = std::ranges::find_if(processes, [&](const auto& entry) { return entry.second.pid == pid; });
  const std::string who = rank == processes.end() ? "a rank" : fmt::format("rank {}", rank->first);
  return fmt::format("{} ended with exit code {}", who, match[2].str());
}

/// Which ranks are behind the others, for a job that stopped reporting.
std::string behind(const RankReports& reports, int processes) {
  if (static_cast<int>(reports.processes.size()) < processes)
    return fmt::format("{} of {} ranks had started", reports.processes.size(), processes);
  std::string text;
  for (const auto& [rank, state] : reports.states)
    if (state == 'T' || state == 'Z' || state == '\0')
      text += fmt::format("{}rank {} is {}", text.empty() ? "" : ", ", rank, state == 'T' ? "stopped" : "gone");
  if (!text.empty()) return text;
  int latest = -1;
  for (const auto& [rank, step] : reports.last_step) latest = std::max(latest, step);
  for (const auto& [rank, step] : reports.last_step)
    if (step < latest) text += fmt::format("{}rank {} after step {}", text.empty() ? "" : ", ", rank, step);
  if (!text.empty()) return text;
  return latest < 0 ? "all ranks at work" : fmt::format("all ranks after step {}", latest);
}

}  // namespace

void record_process_states(RankReports& reports) {
  for (const auto& [rank, process] : reports.processes) {
    if (process.host.empty() || process.host != own_host_identity()) continue;
    const std::optional<ProcessStatus> status = status_of(process);
    reports.states[rank] = status ? status->state : '\0';
  }
}

JobOutcome job_outcome(const RankReports& reports, const Exit& exit, int processes, Seconds timeout) {
  if (!reports.failures.empty()) {
    // Ranks that wait name each other in a chain; who is named and names nobody is the late one. All are quoted.
    std::string reason;
    for (const FailureLine& failure : reports.failures)
      reason += fmt::format("{}rank {}: {}", reason.empty() ? "" : "; ", failure.rank, failure.message);
    return {static_cast<ExitCode>(reports.failures.front().exit_code), reason};
  }
  if (exit.timed_out)
    return {ExitCode::lost_rank, fmt::format("no rank reported for {:.0f} s; last known state: {}", timeout.value,
                                             behind(reports, processes))};
  if (exit.code == 0 && reports.complete) return {};
  const std::string lost = lost_rank(exit.error_tail, reports.processes);
  if (!lost.empty())
    return {ExitCode::lost_rank, fmt::format("{}; last known state: {}", lost, behind(reports, processes))};
  // mpirun has exit codes above those of signals, 205 when it has lost a host's daemon.
  if (exit.code > 128 && exit.code <= 128 + kLastSignal)
    return {ExitCode::lost_rank, fmt::format("the process was ended by signal {}", exit.code - 128)};
  const std::string words = launcher_message(exit.error_head + exit.error_tail);
  return {ExitCode::lost_rank, fmt::format("the job ended with exit code {}{}", exit.code,
                                           words.empty() ? " and no message" : ": " + words)};
}

}  // namespace hbench
