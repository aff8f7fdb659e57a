#pragma once

/// How certain a ratio of two measured times is, from a few launches of each. Pure.
///
/// An interval here is a 95 % prediction interval for a repeat: another whole run, of as many launches in the same
/// conditions, shows a value within it 95 times of 100. It is sqrt(2) times as wide as a confidence interval of the
/// same level, since the repeat is as uncertain as what it repeats. `analysis/points/README.md` has the derivation.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/statistics/statistics.hpp"

namespace hbench {

/// A launch and the launch of the baseline that ran next to it: what slows the machine slows both.
struct PairedLaunch {
  Launch baseline;
  Launch own;
};

/// A ratio of times with what is known of its uncertainty.
struct RatioEstimate {
  double ratio = 0;
  std::optional<Interval> interval;  ///< none of one launch each: its iterations say nothing of another one
  std::string in_words;              ///< what the interval means; empty without one
};

/// Time of the baseline / own time: the Hodges-Lehmann estimate of the logarithm of the pairs' ratios, with Student's
/// interval on those logarithms. \pre pairs, their launches and their values are not empty; values are above 0.
RatioEstimate paired_ratio(const std::vector<PairedLaunch>& pairs);

/// The same for launches that did not take turns: the ratio of the medians of launches, with Welch's interval. It
/// cannot know how the machine changed between the two. \pre as `paired_ratio`.
RatioEstimate unpaired_ratio(const Launches& baseline, const Launches& own);

/// The interval of the median of one value per launch; both ends are the value where there is one launch.
/// \pre not empty, values above 0.
Interval repeat_interval(std::span<const double> launches);

/// The 97.5th percentile of Student's t distribution. \pre degrees >= 1.
double student_t(int degrees);

}  // namespace hbench
