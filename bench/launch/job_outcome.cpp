#include "bench/launch/job_outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>
#include <utility>

#include "bench/launch/launcher_message.hpp"

namespace hbench {
namespace {

/// Where a tag is in a text.
struct Tag {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

/// The end of `[JOB,RANK]<STREAM>:` that begins at `begin`.
std::optional<std::size_t> end_of_tag(std::string_view text, std::size_t begin) {
  const std::size_t job = skip_digits(text, begin + 1);
  if (job == begin + 1 || job >= text.size() || text[job] != ',') return std::nullopt;
  const std::size_t rank = skip_digits(text, job + 1);
  if (rank == job + 1) return std::nullopt;
  for (const std::string_view stream : {"]<stdout>:", "]<stderr>:", "]<stddiag>:"})
    if (text.substr(rank).starts_with(stream)) return rank + stream.size();
  return std::nullopt;
}

std::optional<Tag> find_tag(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('[', from); at != std::string_view::npos; at = text.find('[', at + 1))
    if (const auto end = end_of_tag(text, at)) return Tag{at, *end};
  return std::nullopt;
}

constexpr int kLastSignal = 64;

/// A rank that the launcher's messages name.
struct LostRank {
  int rank = -1;     ///< where it is known
  std::string text;  ///< `rank 1 was ended by signal 9`; empty where they name none
};

LostRank lost_rank(const std::string& errors, const std::map<int, ProcessIdentity>& processes) {
  static const std::regex kSignal(R"(rank (\d+) with PID \d+ on node \S+ exited\s+on signal (\d+))");
  static const std::regex kStatus(R"(Process name: \[\[\d+,\d+\],(\d+)\]\s+Exit code:\s+(\d+))");
  // MPICH's Hydra names the process, and gives a signal as an exit code.
  static const std::regex kHydra(R"(PID (\d+) RUNNING AT \S+\s+=\s+EXIT CODE: (\d+))");
  std::smatch match;
  if (std::regex_search(errors, match, kSignal))
    return {std::stoi(match[1]), fmt::format("rank {} was ended by signal {}", match[1].str(), match[2].str())};
  if (std::regex_search(errors, match, kStatus))
    return {std::stoi(match[1]), fmt::format("rank {} ended with exit code {}", match[1].str(), match[2].str())};
  if (!std::regex_search(errors, match, kHydra)) return {};
  const int pid = std::stoi(match[1].str());
  const auto rank = std::ranges::find_if(processes, [&](const auto& entry) { return entry.second.pid == pid; });
  if (rank == processes.end()) return {-1, fmt::format("a rank ended with exit code {}", match[2].str())};
  return {rank->first, fmt::format("rank {} ended with exit code {}", rank->first, match[2].str())};
}

/// All ranks that say why they give up. Those that wait name each other in a chain; who is named and names nobody is
/// the late one. A rank that cannot say anything any more is the cause.
std::string words_of(const std::vector<FailureLine>& failures, const LostRank& lost) {
  const bool silent = lost.rank >= 0 && std::ranges::find(failures, lost.rank, &FailureLine::rank) == failures.end();
  std::string reason = silent ? lost.text : "";
  for (const FailureLine& failure : failures)
    reason += fmt::format("{}rank {}: {}", reason.empty() ? "" : "; ", failure.rank, failure.message);
  return reason;
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

void RankLines::add(std::string_view text) {
  std::optional<Tag> tag = find_tag(text, 0);
  if (!tag) return on_line_(text);
  // What the launcher itself had to say, in front of a rank's.
  if (tag->begin > 0) on_line_(text.substr(0, tag->begin));
  while (tag) {
    const std::string_view name = text.substr(tag->begin, tag->end - tag->begin);
    const std::optional<Tag> next = find_tag(text, tag->end);
    const std::string_view piece = text.substr(tag->end, next ? next->begin - tag->end : std::string_view::npos);
    std::string& line = begun_[std::string(name)];
    line += piece;
    if (!next) on_line_(std::exchange(line, {}));
    tag = next;
  }
}

std::string without_rank_tags(std::string_view text) {
  std::string plain;
  std::size_t at = 0;
  for (std::optional<Tag> tag = find_tag(text, 0); tag; tag = find_tag(text, at)) {
    plain += text.substr(at, tag->begin - at);
    at = tag->end;
  }
  return plain += text.substr(at);
}

void record_process_states(RankReports& reports) {
  for (const auto& [rank, process] : reports.processes) {
    if (process.host.empty() || process.host != own_host_identity()) continue;
    const std::optional<ProcessStatus> status = status_of(process);
    reports.states[rank] = status ? status->state : '\0';
  }
}

JobOutcome job_outcome(const RankReports& reports, const Exit& exit, int processes, Seconds timeout) {
  // Of a job that we stop, the launcher names a rank that it has stopped for us.
  const LostRank lost = exit.timed_out ? LostRank() : lost_rank(exit.error_tail, reports.processes);
  if (!reports.failures.empty())
    return {static_cast<ExitCode>(reports.failures.front().exit_code), words_of(reports.failures, lost)};
  if (exit.timed_out)
    return {ExitCode::lost_rank, fmt::format("no rank reported for {:.0f} s; last known state: {}", timeout.value,
                                             behind(reports, processes))};
  if (exit.code == 0 && reports.complete) return {};
  if (!lost.text.empty())
    return {ExitCode::lost_rank, fmt::format("{}; last known state: {}", lost.text, behind(reports, processes))};
  // mpirun has exit codes above those of signals, 205 when it has lost a host's daemon.
  if (exit.code > 128 && exit.code <= 128 + kLastSignal)
    return {ExitCode::lost_rank, fmt::format("the process was ended by signal {}", exit.code - 128)};
  const std::string words = launcher_message(exit.error_head + exit.error_tail);
  return {ExitCode::lost_rank, fmt::format("the job ended with exit code {}{}", exit.code,
                                           words.empty() ? " and no message" : ": " + words)};
}

}  // namespace hbench
