#pragma once

/// One cluster on networks that carry more or less than its own.

#include <map>
#include <optional>
#include <string>

#include "analysis/prediction/simulate.hpp"

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
  const SimulatedStep& step(const Case& asked, BytesPerSecond per_node);
  /// As it was given.
  const Catalog& catalog() const { return stated_; }

 private:
  Catalog stated_, varied_;
  StopRequested stop_;
  BytesPerSecond last_rate_;
  std::optional<SimulatedRunner> runner_;  ///< on `varied_`, whose networks carry `last_rate_`
  std::map<std::pair<std::string, double>, SimulatedStep> known_;
};

}  // namespace hbench
