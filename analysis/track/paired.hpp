#pragma once

/// Whether one side is slower than the other where launches took turns, A B B A ...: a launch is held to its neighbour,
/// which ran on the same hardware at nearly the same time. Pure.
///
/// The pair is the unit of evidence: the logarithm of head / base. What changes slowly while both are measured adds to
/// the one order as much as it takes from the other, and cancels. A change is only called one where it is unlikely by
/// chance (the exact signed-rank test, corrected by Holm for the cases of the gate), as large as somebody cares about
/// (Hodges and Lehmann), and found again by further pairs.
/// `tests/studies/paired_false_alarms` prints how often that errs.

#include <cstddef>
#include <vector>

#include "analysis/track/judge.hpp"

namespace hbench {

struct PairRule {
  double least_effect = 0.03;  ///< relative; smaller changes do not count
  double level = 0.01;         ///< probability of an alarm by chance, over all cases of the gate
  int pairs = 12;              ///< that decide; those after them confirm
  bool confirm = true;         ///< whether a change must be found again by further pairs
};

/// The fewest pairs that can distinguish a change of one of `cases` cases from chance, at `level` (0.01): a coin falls
/// to the same side `pairs` times with a probability of 2 / 2^pairs, which Holm multiplies by the cases. Even, so that
/// either side is first equally often. 8 for one case, 12 for 20.
int fewest_pairs(std::size_t cases, double level);
/// Four more, so that a few disturbed launches do not hide a change.
int default_pairs(std::size_t cases, double level);

/// Fewer further pairs confirm nothing: 2 / 2^6 = 3.1 % of chance.
inline constexpr int kFewestConfirming = 6;

/// Judges the cases of a gate together, in their order. The baseline of a case is one run, whose launch i is the
/// neighbour of the head's launch i. \pre both have as many, or one of them has none.
std::vector<TrackJudgement> judge_pairs(const std::vector<TrackedCase>& gate, const PairRule& rule = {});

}  // namespace hbench
