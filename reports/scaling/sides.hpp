#pragma once

/// All-reduce against parameter servers, each by its best configuration. Whoever compares the two uses this: a side is
/// never judged by a configuration that nobody would choose.

#include <vector>

#include "reports/scaling/selection.hpp"

namespace hbench {

/// The most efficient point of either side, of one question: workload, batch, GPU count, place and, where it is timed,
/// number of nodes. A configuration is
/// algorithm and fusion policy, or placement, mode and number of servers. Of a side that has points without compression
/// only these count, because compressed gradients are not the same training.
struct BestOfSides {
  const Point* all_reduce = nullptr;  ///< null where there is none
  const Point* servers = nullptr;     ///< null where there is none

  bool both() const { return all_reduce != nullptr && servers != nullptr; }
  const Point& better() const;
  /// Of the other side; null where there is none.
  const Point* other() const;
  /// By how much servers are more efficient, in points of 1; negative where they are less so. \pre both()
  double lead_of_servers() const { return *servers->efficiency - *all_reduce->efficiency; }
};

/// One for each question and place among `points`, the most efficient first. \pre every point has an efficiency.
std::vector<BestOfSides> best_of_sides(const Pointers& points);

/// Whether `a` is more efficient than `b` beyond doubt: by a percentage point at least, and where both have
/// intervals or bands, these do not overlap.
bool clearly_ahead(const Point& a, const Point& b);

/// The most efficient point with servers of the other kind (slices or whole tensors) than `servers`; null where there
/// is none.
const Point* other_placement(const Pointers& points, const Point& servers);

}  // namespace hbench
