#pragma once

/// Whether what is tracked has become slower: the values of new launches beside those of earlier runs. Pure.
///
/// The launch is the unit of evidence: iterations of one launch share its luck, and tests on them find changes where
/// there are none (20 to 48 of 100 comparisons of equal code at a level of 5 %, `tests/studies/false_alarms`). A change
/// is only called one where it is unlikely by chance (Mann and Whitney's exact test, corrected by Holm for the cases of
/// a gate), as large as somebody cares about, larger than what runs of the baseline differ by among themselves, not
/// what an earlier run was as well, not of code that an earlier run measured as faster, and found again by further
/// launches.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/statistics/rank_test.hpp"
#include "analysis/track/changes.hpp"

namespace hbench {

/// These are levels of the interval that is printed, and of the test that confirms: one further set of launches, or of
/// pairs, is one question.
inline constexpr double kIntervalLevel = 0.95, kConfirmed = 0.05;

/// Returns how many of a head's launches decide; those after them confirm.
std::size_t deciding_launches(std::size_t launches, const TrackRule& rule);

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
  bool against_limit =
      false;       ///< what it was held to is a value that somebody wrote down (`analysis/track/report.hpp`)
  int wanted = 0;  ///< further launches of the head by which a change would be confirmed, or not
  /// Whether it is inconclusive for lack of launches alone, and looks worse: not to be passed by.
  bool suspected = false;
  std::int64_t since = 0;  ///< the run of the baseline with which the change began; 0: the head's

  /// Takes a verdict, with its reason and what to do about it.
  void decide(TrackVerdict found, std::string why, std::string what_next) {
    verdict = found;
    reason = std::move(why);
    next_step = std::move(what_next);
  }

  /// Whether there are figures.
  bool compared() const { return head_launches > 0 && (baseline_launches > 0 || against_limit); }
};

/// Judges what is weighed of one gate, in its order: each, where it `is_asked()`, with its p corrected for the others.
template <class Weighed, class P, class Judge>
std::vector<TrackJudgement> judge_together(std::vector<Weighed>& gate, P p, Judge judge) {
  std::vector<double> p_values;
  for (const Weighed& each : gate)
    if (each.is_asked()) p_values.push_back(p(each));
  const std::vector<double> corrected = holm_corrected(p_values);
  std::vector<TrackJudgement> judgements;
  std::size_t asked = 0;
  for (Weighed& each : gate) judgements.push_back(judge(each, each.is_asked() ? corrected[asked++] : 1));
  return judgements;
}

/// Judges the cases of one gate together, in their order.
std::vector<TrackJudgement> judge(const std::vector<TrackedCase>& gate, const TrackRule& rule = {});

}  // namespace hbench
