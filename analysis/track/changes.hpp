#pragma once

/// Where a series of runs changes its level, for good. Pure.

#include <cstddef>
#include <span>
#include <vector>

namespace hbench {

struct ChangeRule {
  double least_effect = 0.03;    ///< relative; levels that are nearer to each other are one
  std::size_t shortest = 3;      ///< runs of a level: fewer are a disturbance
  std::size_t most_runs = 1000;  ///< the newest; the time grows with the square
  /// Of a change, in deviations of the noise times the logarithm of the number of runs: the series is cut where that
  /// saves more than it. 4 finds a change in 1 of 100 series of 100 equal runs.
  double penalty = 4;
};

/// Where new levels begin: indices into `values` (above 0, oldest first), ascending, without 0. The sum of absolute
/// deviations of logarithms from the medians of their levels plus the penalty of each change is the least there is
/// (optimal partitioning: Jackson et al., "An algorithm for optimal partitioning of data on an interval", 2005;
/// medians, so that single bad runs move no level). The noise is that of successive differences, which levels do not
/// count in. What fewer runs than a level needs stand for is joined with a neighbour, and so are, the nearest first,
/// neighbours nearer than the least effect.
std::vector<std::size_t> change_points(std::span<const double> values, const ChangeRule& rule = {});

}  // namespace hbench
