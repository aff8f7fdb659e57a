#pragma once

/// One cluster on networks that carry more or less than its own.
///
/// Searching a rate: bisection on logarithms. Pure.
///
/// Rates in the one unit of tables of networks.
///
/// The cases of a job on one cluster whose network varies.

#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "analysis/prediction/plan.hpp"
#include "analysis/prediction/simulate.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

/// The cluster with a network that carries `per_node` between nodes, each way and after protocol overhead, over every
/// path: the line's rate follows from it, and what holds single streams back is lifted. All else is kept: latency, the
/// rate of parameter servers, links inside nodes, memory, stragglers, uncertainty.
Profile with_network_rate(Profile profile, BytesPerSecond per_node);

/// Simulates steps on such networks, each of them once. Cases are quickest network by network.
class VariedNetwork {
 public:
  /// \param catalog holds what the cases name.
  explicit VariedNetwork(const Catalog& catalog, StopRequested stop = {})
      : stated_(catalog), varied_(catalog), stop_(std::move(stop)) {}
  VariedNetwork(const VariedNetwork&) = delete;
  VariedNetwork& operator=(const VariedNetwork&) = delete;

  /// \throws as `SimulatedRunner::step`.
  const SimulatedStep& step(const PlannedCase& planned, BytesPerSecond per_node);
  /// As it was given.
  const Catalog& catalog() const { return stated_; }

 private:
  Catalog stated_, varied_;
  StopRequested stop_;
  BytesPerSecond last_rate_;
  std::optional<SimulatedRunner> runner_;  ///< on `varied_`, whose networks carry `last_rate_`
  std::map<std::pair<std::string, double>, SimulatedStep> known_;
};

/// Between these everything is searched: 1 kbit/s, the slowest network that a profile may have, and a rate at which no
/// message takes any time.
inline constexpr BytesPerSecond kLeastRate(125);
inline constexpr BytesPerSecond kUnlimited(1e15);
/// What is found is at most so much, relatively, above the least rate.
inline constexpr double kSearchTolerance = 0.005;

/// The least rate that `meets` something which faster networks meet as well; `kLeastRate` where all do, none where not
/// even `kUnlimited` does. The same rates are tried in the same order whatever is asked, so that answers can be kept.
std::optional<BytesPerSecond> least_rate(const std::function<bool(BytesPerSecond)>& meets);

inline double in_gigabits(BytesPerSecond rate) { return rate.value * 8 / 1e9; }

/// Gbit/s with two digits or as a whole number: `0.45`, `3.2`, `38`, `410`; `0` where any network is fast enough.
inline std::string gigabits(BytesPerSecond rate) {
  if (rate <= kLeastRate) return "0";
  const double value = in_gigabits(rate);
  return value < 9.95 ? fmt::format("{:.2g}", value) : fmt::format("{:.0f}", value);
}

/// Simulated cases of `request`, which names one profile: workload by workload in the order in which they were asked
/// for. What fits into one node uses no network, and is left out with that reason. \throws Error (usage) as
/// `plan_predictions`, and where nothing is left.
Plan plan_across_nodes(PredictionRequest request, const Data& data, std::int64_t memory);

}  // namespace hbench
