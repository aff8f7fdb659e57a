#pragma once

/// `hbench track check`: judges a run of a database against earlier ones, and says so in every form that CI reads.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/store/store.hpp"
#include "analysis/track/limit.hpp"
#include "analysis/track/paired.hpp"
#include "analysis/track/sides.hpp"
#include "collectives/base/error.hpp"
#include "reports/document.hpp"

namespace hbench {

/// Says that a run (0: the newest) is as fast as it should be: later ones are held to it and to those after it. The
/// number of the run. \throws Error (usage) as `check`, and without a reason.
std::int64_t accept(Store& store, int run, const std::string& reason);

/// What is judged, and by what.
struct TrackRequest {
  int head = 0;                                 ///< a run; 0: the one that was stored last
  std::map<std::string, std::string> baseline;  ///< labels of the runs that it is held to
  TrackRule rule;
  bool fail_on_inconclusive = false;
  std::string frozen = {};              ///< the name of a frozen baseline instead; empty: `baseline`
  std::vector<TrackLimit> limits = {};  ///< beside it
};

/// A case with its verdict.
struct TrackedResult {
  TrackedSides sides;
  TrackJudgement judgement;
  std::int64_t id = 0;  ///< of its stored verdict; 0: not stored
  /// What else differs from the baseline, where it has changed: commits, parts of the step, ranks, facts; in sentences.
  std::vector<std::string> changed = {};
};

/// Sides that took turns (`hbench track pair`).
struct PairedSides {
  std::string base, head;  ///< commands
  PairRule rule;
  int pairs = 0;  ///< that are complete
};

struct TrackReport {
  TrackRequest request;
  Run head;
  std::vector<Run> runs;          ///< of the baseline, oldest first
  std::vector<Run> earlier = {};  ///< before an accepted change, oldest first
  std::vector<TrackedResult> results;
  std::vector<std::string> notes = {};  ///< what is to be known beside the verdicts, in sentences
  /// Where it is set, the verdicts are given by its rule, and the baseline is the run of the other side.
  std::optional<PairedSides> paired = {};

  std::size_t count(TrackVerdict verdict) const;
  /// `branch=main`, or `the frozen baseline v2`.
  std::string baseline_in_words() const;
  /// Failed cases of the head end with their own code, 4 before 5; then 10 where something has regressed, 11 where
  /// something is suspected or, if that is asked for, inconclusive, and 12 where nothing is comparable or a case is
  /// not.
  ExitCode exit_code() const;
};

/// What was tried and has failed, or cannot be compared, is no question of figures.
TrackJudgement without_figures(const TrackedSides& sides, TrackJudgement judgement);

/// \param baselines the database that has the runs of the baseline; null: the same.
/// \throws Error (usage) for a run or a frozen baseline that is not there, and a database without runs.
TrackReport check(const Store& store, const TrackRequest& request, const Store* baselines = nullptr);

/// The runs that the next run would be held to.
BaselineRuns next_baseline(const Store& store, const TrackRequest& request);

/// Keeps the verdicts with all that they were given by, and gives the results their numbers. \throws Error
/// (environment) where nothing can be written.
void keep_verdicts(Store& store, TrackReport& report);

/// `branch=main` of `main`, and any label as it is. \throws Error (usage) for text that is none.
std::map<std::string, std::string> parse_baseline(const std::string& text);
/// What `--baseline` says of a database: a frozen baseline by its name (also `frozen:NAME`), a branch or a label.
/// \throws Error (usage) as `parse_baseline`, for a frozen baseline that is not there, and for a name that is both.
void choose_baseline(TrackRequest& request, const std::string& text, const Store& store);
/// Whether `--fail-on` names inconclusive cases. \throws Error (usage) for other words.
bool parse_fail_on(const std::string& text);

/// For a terminal, a page, or the comment of a pull request: what has changed first, all cases folded.
Document track_document(const TrackReport& report);
std::string track_json(const TrackReport& report);
/// JUnit's XML: a test for each case, a failure where it has regressed, skipped where nothing can be said.
std::string track_junit(const TrackReport& report);
/// GitHub's workflow commands, one line for each case that has regressed, failed or cannot be judged.
std::string track_annotations(const TrackReport& report);
/// The lines between which the runner of GitHub's actions takes no line for a command, whoever wrote it: the first, and
/// the last, which nobody can foresee.
std::pair<std::string, std::string> without_commands();
/// GitLab's metrics report: times, changes and the number of each verdict, as OpenMetrics.
std::string track_metrics(const TrackReport& report);

}  // namespace hbench
