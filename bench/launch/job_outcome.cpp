#include "bench/launch/job_outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <regex>
#include <utility>

#include "collectives/base/text.hpp"

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

using Paragraph = std::vector<std::string>;  ///< lines, trimmed
using OutputBlock = std::vector<Paragraph>;

constexpr std::size_t kRuleLength = 20;
constexpr std::size_t kLongest = 300;

/// How blocks begin that say that something failed, and not what.
constexpr std::array<std::string_view, 6> kUninformative{"It looks like",          "Primary job  terminated",
                                                         "Primary job terminated", "mpirun has exited due to",
                                                         "mpirun noticed that",    "MPI_ABORT was invoked"};
constexpr std::array<std::string_view, 8> kErrorWords{"error",     "cannot",    "can't",   "could not",
                                                      "unable to", "not found", "no such", "failed"};
/// How Open MPI's libraries report an error: a reason, and where in their sources.
constexpr std::array<std::string_view, 3> kErrorLogs{"ORTE_ERROR_LOG: ", "PRTE ERROR: ", "PMIX ERROR: "};

bool is_rule(const std::string& line) {
  return line.size() >= kRuleLength && line.find_first_not_of('-') == std::string::npos;
}
bool has_words(const std::string& line) {
  return std::ranges::any_of(line, [](unsigned char c) { return isalnum(c); });
}

/// What stands between two rules, of which the second may be missing.
std::vector<OutputBlock> blocks_of(const std::vector<std::string>& lines) {
  std::vector<OutputBlock> blocks;
  bool inside = false;
  for (const std::string& line : lines) {
    if (is_rule(line)) {
      inside = !inside;
      if (inside) blocks.emplace_back(1);
    } else if (inside && line.empty()) {
      blocks.back().emplace_back();
    } else if (inside) {
      blocks.back().back().push_back(line);
    }
  }
  for (OutputBlock& block : blocks) std::erase_if(block, [](const Paragraph& paragraph) { return paragraph.empty(); });
  std::erase_if(blocks, [](const OutputBlock& block) { return block.empty(); });
  return blocks;
}

bool is_informative(const OutputBlock& block) {
  return std::ranges::none_of(kUninformative,
                              [&](std::string_view begin) { return block.front().front().starts_with(begin); });
}

/// `Directory: /x`: a name of few words before a colon.
bool is_detail(const std::string& line) {
  const std::size_t colon = line.find(':');
  return colon != std::string::npos && colon + 1 < line.size() && line[colon + 1] == ' ' &&
         std::ranges::count(line.substr(0, colon), ' ') < 3;
}

/// The first sentence with what stands below it.
std::string text_of(const OutputBlock& block) {
  std::string text = fmt::format("{}", fmt::join(block.front(), " "));
  if (block.size() < 2) return text;
  const Paragraph& next = block[1];
  if (!text.ends_with(':') && !std::ranges::all_of(next, is_detail)) return text;
  if (text.ends_with('.')) text.pop_back();
  return fmt::format("{}{} {}", text, text.ends_with(':') ? "" : ":", fmt::join(next, ", "));
}

/// PMIx has one word for files that have no room: its tables are below the folder for temporary files.
std::string in_words(const std::string& reason) {
  if (reason != "OUT-OF-RESOURCE") return reason;
  return reason + ": the folder for temporary files (TMPDIR, else /tmp) may be full";
}

/// The reason in the libraries' first report that has one; empty when none has.
std::string logged_reason(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (is_rule(line)) return "";  // later ones follow from what the block says
    for (const std::string_view log : kErrorLogs) {
      const std::size_t begin = line.find(log);
      if (begin == std::string::npos) continue;
      const std::string reason = line.substr(begin + log.size(), line.find(" in file ") - begin - log.size());
      if (reason != "Error") return in_words(reason);
    }
  }
  return "";
}

/// What ssh says in front of the launcher's blocks, which only follow from it; empty where it says nothing.
std::string line_of_ssh(const std::vector<std::string>& lines) {
  constexpr std::array<std::string_view, 4> kWords{"ssh: ", "Permission denied (", "Host key verification failed",
                                                   "kex_exchange_identification: "};
  for (const std::string& line : lines) {
    if (is_rule(line)) return "";
    if (std::ranges::any_of(kWords, [&](std::string_view word) { return line.find(word) != std::string::npos; }))
      return line;
  }
  return "";
}

std::string plain_message(const std::vector<std::string>& lines) {
  std::string last;
  for (const std::string& line : lines) {
    if (!has_words(line)) continue;
    const std::string small = lower_case(line);
    if (std::ranges::any_of(kErrorWords, [&](std::string_view word) { return small.find(word) != std::string::npos; }))
      return line;
    last = line;
  }
  return last;
}

std::string shortened(std::string text) {
  if (text.size() <= kLongest) return text;
  const std::size_t space = text.rfind(' ', kLongest);
  return text.substr(0, space == std::string::npos ? kLongest : space) + " ...";
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
    return {static_cast<ExitCode>(reports.failures.front().exit_code), words_of(reports.failures, lost), lost.rank};
  if (exit.timed_out)
    return {ExitCode::lost_rank, fmt::format("no rank reported for {:.0f} s; last known state: {}", timeout.value,
                                             behind(reports, processes))};
  if (exit.code == 0 && reports.complete) return {};
  if (!lost.text.empty())
    return {ExitCode::lost_rank, fmt::format("{}; last known state: {}", lost.text, behind(reports, processes)),
            lost.rank};
  // mpirun has exit codes above those of signals, 205 when it has lost a host's daemon.
  if (exit.code > 128 && exit.code <= 128 + kLastSignal)
    return {ExitCode::lost_rank, fmt::format("the process was ended by signal {}", exit.code - 128)};
  const std::string words = launcher_message(exit.error_head + exit.error_tail);
  return {ExitCode::lost_rank, fmt::format("the job ended with exit code {}{}", exit.code,
                                           words.empty() ? " and no message" : ": " + words)};
}

std::string launcher_message(std::string_view errors) {
  std::vector<std::string> lines;
  for (const std::string_view line : lines_of(errors)) lines.emplace_back(trimmed(line));
  if (std::string ssh = line_of_ssh(lines); !ssh.empty()) return shortened(std::move(ssh));
  const std::string reason = logged_reason(lines);
  const std::vector<OutputBlock> blocks = blocks_of(lines);
  const auto block = std::ranges::find_if(blocks, is_informative);
  if (block != blocks.end()) {
    const std::string text = text_of(*block);
    return shortened(reason.empty() ? text : fmt::format("{}: {}", reason, text));
  }
  if (!reason.empty()) return reason;
  return shortened(blocks.empty() ? plain_message(lines) : text_of(blocks.front()));
}

}  // namespace hbench
