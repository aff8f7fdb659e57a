#pragma once

/// How a job of ranks ended, in words.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/launch/process.hpp"
#include "bench/worker/protocol.hpp"
#include "collectives/base/error.hpp"

namespace hbench {

/// What the ranks of one job reported.
struct RankReports {
  std::vector<FailureLine> failures;
  std::map<int, ProcessIdentity> processes;  ///< by rank
  std::map<int, int> last_step;              ///< by rank
  /// By rank, as `ProcessStatus::state`, 0 when the process is gone; at the time-out, of processes on this host.
  std::map<int, char> states;
  bool complete = false;  ///< the last report that the job owes has come
};

struct JobOutcome {
  ExitCode code = ExitCode::good;
  std::string reason;  ///< one line; empty when good
  int lost_rank = -1;  ///< that was lost, where it is known
};

/// Asks this host for the states of the ranks' processes.
void record_process_states(RankReports& reports);

/// Names the rank that was lost where it can be known: by what ranks reported, by the launcher's messages, or, when no
/// rank reported in time, by the states of the processes. `timeout` is the one that the job ran into, if any.
JobOutcome job_outcome(const RankReports& reports, const Exit& exit, int processes, Seconds timeout);

/// Puts the lines of ranks together again. A launcher passes on what a rank wrote in pieces (Open MPI 4: of at most
/// 4096 bytes), and what another rank writes meanwhile comes between two pieces of one line. A launcher that is started
/// with the option to tag its output writes `[1,RANK]<stdout>:` before each line and each piece. Output without tags
/// passes as it is.
class RankLines {
 public:
  /// `on_line` is called with each whole line, without its end and without tags.
  explicit RankLines(std::function<void(std::string_view line)> on_line) : on_line_(std::move(on_line)) {}

  /// What the launcher wrote up to the end of a line, without that end.
  void add(std::string_view text);

 private:
  std::function<void(std::string_view line)> on_line_;
  std::map<std::string, std::string, std::less<>> begun_;  ///< by tag, lines of which pieces are still to come
};

/// The same text without any tags. Pure.
std::string without_rank_tags(std::string_view text);

/// The line that says what is wrong, of what a launcher wrote to standard error: Open MPI wraps its messages into
/// blocks between rules, each a sentence with details below it, and follows the one that matters with others that only
/// say that something failed. Without blocks it is the first line about an error, or else the last one. Empty when
/// there are no words. Pure.
std::string launcher_message(std::string_view errors);

}  // namespace hbench
