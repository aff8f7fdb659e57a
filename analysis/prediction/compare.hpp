#pragma once

/// `hbench compare`: simulates a comparison of `analysis/prediction/comparisons.hpp`, beside what was published of it.

#include <string>
#include <vector>

#include "analysis/points/points.hpp"
#include "analysis/prediction/comparisons.hpp"
#include "analysis/prediction/means.hpp"
#include "analysis/prediction/plan.hpp"

namespace hbench {

/// What was simulated and published. Points of a place that is no profile's own have its label as their profile.
struct ComparisonAnswer {
  const ReadyComparison* asked = nullptr;
  std::vector<Point> points;
  std::map<std::string, std::string> titles;  ///< of workloads, by name
  std::map<std::string, std::string> labels;  ///< of places, by the profile of their points
  std::vector<Refusal> refused;
};

/// The nodes with the network of another cluster: latency, lines, streams, what parameter servers handle over it, and
/// the larger of both uncertainties.
Profile with_network_of(Profile nodes, const Profile& network);

/// \throws Error (usage) where a profile has no rate of one GPU, (interrupted) after a stop.
ComparisonAnswer compare(const ReadyComparison& asked, const Data& data, const SimulationMeans& means = {});

}  // namespace hbench
