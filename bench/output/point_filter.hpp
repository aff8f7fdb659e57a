#pragma once

/// Which stored points `hbench report` and `hbench export` show.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/points/points.hpp"

namespace hbench {

/// An empty list accepts everything.
struct PointFilter {
  std::vector<std::string> workloads, profiles;
  std::set<Evidence> evidence;
  /// Each an algorithm, or a part of a strategy's label: `ps`, `sliced`, `ps (sliced, dedicated)`, `fp16`.
  std::vector<std::string> strategies;

  bool accepts(const Point& point) const;
};

/// `measured,simulated`. \throws Error (usage) that names `flag`, or for an evidence that there is not.
std::set<Evidence> parse_evidence_list(std::string_view text, std::string_view flag);

/// The points that `filter` accepts, in their order. Efficiencies are those of all points: a baseline that is filtered
/// out still counts. \throws Error (usage), with a suggestion, for a workload, profile or strategy that no point has,
/// and when no point is left.
std::vector<Point> select_points(std::vector<Point> points, const PointFilter& filter);

}  // namespace hbench
