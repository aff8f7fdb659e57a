#pragma once

/// Whether what is tracked has become slower: the values of new launches beside those of earlier runs. Pure.
///
/// The launch is the unit of evidence: iterations of one launch share its luck, and tests on them find changes where
/// there are none (20 to 48 of 100 comparisons of equal code at a level of 5 %, `bench/micro/false_alarms`). A change
/// is only called one where it is unlikely by chance (Mann and Whitney's exact test, corrected by Holm for the cases of
/// a gate), as large as somebody cares about, larger than what runs of the baseline differ by among themselves, not
/// what an earlier run was as well, not of code that an earlier run measured as faster, and found again by further
/// launches.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/statistics.hpp"

namespace hbench {

/// What is called a change. The defaults are those whose errors `bench/micro/false_alarms` prints.
struct TrackRule {
  double least_effect = 0.03;  ///< relative; smaller changes do not count
  double level = 0.01;         ///< probability of an alarm by chance, over all cases of a gate
  double spread = 4;           ///< deviations of the baseline's runs that a change must exceed
  int most_runs = 30;          ///< of the baseline, the newest
  int fewest_runs = 5;         ///< of the baseline and before it; fewer say nothing of how runs differ
  int launches = 5;            ///< of a head that decide, at least; the last `confirming` confirm
  int confirming = 5;          ///< those that must find a change again; 0: none need to

  friend bool operator==(const TrackRule&, const TrackRule&) = default;
};

/// Returns how many of a head's launches decide; those after them confirm.
std::size_t deciding_launches(std::size_t launches, const TrackRule& rule);

/// What is known of a run of a baseline beside its launches.
struct BaselineRun {
  std::int64_t run = 0;     ///< its number in its database
  bool equal_code = false;  ///< as far as is known, it measured the code that the head did
};

/// One case of a gate. Values are above 0; of times a larger one is worse, of rates a smaller one.
struct TrackedCase {
  std::vector<Launch> baseline;  ///< by run, oldest first: a value for each launch
  Launch head;                   ///< in the order in which they were measured
  bool larger_is_worse = true;
  /// Runs before a change of level that was accepted: they tell how runs differ, and nothing of the level.
  std::vector<Launch> earlier{};
  std::vector<BaselineRun> known{};  ///< of each run of the baseline; empty: nothing is
};

enum class TrackVerdict : std::uint8_t {
  pass,
  improved,
  regressed,
  inconclusive,
  missing,       ///< the baseline has it, the head does not
  fresh,         ///< the head has it, the baseline does not
  incomparable,  ///< both have it, from places that do not compare
};
/// `pass`, `improved`, `regressed`, `inconclusive`, `missing`, `new`, `incomparable`.
std::string_view to_string(TrackVerdict verdict);

struct TrackJudgement {
  TrackVerdict verdict = TrackVerdict::pass;
  std::string reason;     ///< one sentence
  std::string next_step;  ///< what to do about it; empty where nothing is
  /// The rest only where both sides have launches.
  double before = 0, after = 0;  ///< the middle launch of either side
  double shift = 0;              ///< by which fraction the head's values are above the baseline's
  Interval interval;             ///< 95 %
  double p = 1, corrected = 1;   ///< of the test, and by Holm over the gate
  double resolution = 0;         ///< a change that runs of the baseline show among themselves
  std::size_t runs = 0, baseline_launches = 0, head_launches = 0;
  bool against_limit = false;  ///< what it was held to is a value that somebody wrote down (`analysis/track/limit.hpp`)
  int wanted = 0;              ///< further launches of the head by which a change would be confirmed, or not
  /// Whether it is inconclusive for lack of launches alone, and looks worse: not to be passed by.
  bool suspected = false;
  std::int64_t since = 0;  ///< the run of the baseline with which the change began; 0: the head's

  /// Whether there are figures.
  bool compared() const { return head_launches > 0 && (baseline_launches > 0 || against_limit); }
};

/// Judges the cases of one gate together, in their order.
std::vector<TrackJudgement> judge(const std::vector<TrackedCase>& gate, const TrackRule& rule = {});

}  // namespace hbench
