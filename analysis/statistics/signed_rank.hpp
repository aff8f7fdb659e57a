#pragma once

/// Whether differences of pairs lie about 0, and where they lie: distribution-free, exact for few pairs. Pure.

#include <span>

#include "analysis/statistics/statistics.hpp"

namespace hbench {

/// Two-sided p of the signed-rank test (Wilcoxon, "Individual comparisons by ranking methods", 1945): how often chance
/// alone puts the differences at least so far to one side, when each could as well have had the other sign. Exact, also
/// with ties (then it is conditional on them): equal sizes share the mean of their ranks, and zeros keep their ranks
/// and count for neither side (Pratt, "Remarks on zeros and ties in the Wilcoxon signed rank procedures", 1959). 1
/// where every difference is 0, or there is none.
double signed_rank_test(std::span<const double> differences);

/// The median of the means of all pairs of differences, each with itself too (Walsh averages; Hodges & Lehmann,
/// "Estimates of location based on rank tests", 1963). \pre not empty.
double middle_difference(std::span<const double> differences);

/// Where that middle lies with `level` (0.95): the Walsh averages between which every middle lies that the signed-rank
/// test does not reject (Hollander, Wolfe & Chicken, "Nonparametric Statistical Methods", 2014, section 3.3). Of too
/// few differences for the level it is the range of the Walsh averages, which holds less. \pre not empty, 0 < level
/// < 1.
Interval difference_interval(std::span<const double> differences, double level);

}  // namespace hbench
