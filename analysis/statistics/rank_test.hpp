#pragma once

/// Whether two settings differ, from the values of a few launches each: distribution-free, exact for few values.
///
/// Whether differences of pairs lie about 0, and where they lie: distribution-free, exact for few pairs. Pure.

#include <span>
#include <vector>

#include "analysis/statistics/statistics.hpp"

namespace hbench {

/// Two-sided p of Mann and Whitney's test, "On a test of whether one of two random variables is stochastically larger
/// than the other", 1947: how often chance alone puts the values at least so far apart. Exact, also with equal values
/// (then it is conditional on them). 1 when one side has no values.
double rank_test(std::span<const double> a, std::span<const double> b);

/// By which fraction `b` is above `a`: the median of all ratios b / a, less 1 (Hodges and Lehmann, "Estimates of
/// location based on rank tests", 1963, on logarithms). \pre both have values, all above 0.
double relative_shift(std::span<const double> a, std::span<const double> b);

/// Where that fraction lies with `level` (0.95): the ratios between which the median of all ratios stays for every
/// shift that the rank test does not reject, whatever the values' distribution (Hollander, Wolfe & Chicken,
/// "Nonparametric Statistical Methods", 2014, section 4.3; of more than 25 values on either side by its normal
/// approximation). Of too few values for the level it is the range of all ratios, which holds less. \pre as
/// `relative_shift`, 0 < level < 1.
Interval shift_interval(std::span<const double> a, std::span<const double> b, double level);

/// Holm, "A simple sequentially rejective multiple test procedure", 1979: p-values corrected for being several, in the
/// order given.
std::vector<double> holm_corrected(std::span<const double> p_values);

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
