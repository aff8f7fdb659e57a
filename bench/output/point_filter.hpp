#pragma once

/// Which stored points `hbench report` and `hbench export` show.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/points/points.hpp"
#include "bench/command/arguments.hpp"

namespace hbench {

/// An empty list accepts everything.
struct PointFilter {
  std::vector<std::string> workloads, profiles;
  std::set<Evidence> evidence;
  /// Each an algorithm, or a part of a strategy's label: `ps`, `sliced`, `ps (sliced, dedicated)`, `fp16`.
  std::vector<std::string> strategies;

  bool accepts(const Case& asked) const;
};

/// Adds `--evidence`, a comma list, whose default is `standard`. `evidence` outlives the parsing.
void add_evidence(Arguments& app, std::set<Evidence>& evidence, std::string help, std::string standard = {});

/// The points that `filter` accepts, in their order. Efficiencies are those of all points: a baseline that is filtered
/// out still counts. \throws Error (usage), with a suggestion, for a workload, profile or strategy that no point has,
/// and when no point is left.
std::vector<Point> select_points(std::vector<Point> points, const PointFilter& filter);

}  // namespace hbench
