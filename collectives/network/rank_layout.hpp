#pragma once

/// Where ranks are, and what they send within nodes and between them.

#include <optional>
#include <vector>

#include "collectives/base/units.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// Where ranks are, and in which order the simulator keeps what it knows of them: like GPUs of successive nodes side by
/// side. What one GPU of every node does at the same time is then a loop over neighbours.
struct RankLayout {
  /// Workers fill nodes in rank order; a dedicated server has a node of its own. Where several nodes are one domain of
  /// a `Profile`, a node is the domain.
  RankLayout(const World& world, int gpus_per_node) {
    const int worker_nodes = (world.workers + gpus_per_node - 1) / gpus_per_node;
    const int dedicated = world.ranks() - world.workers;
    for (Rank rank = 0; rank < world.workers; ++rank) {
      node.push_back(rank / gpus_per_node);
      lane.push_back(rank % gpus_per_node * worker_nodes + rank / gpus_per_node);
    }
    for (int server = 0; server < dedicated; ++server) {
      node.push_back(worker_nodes + server);
      lane.push_back(gpus_per_node * worker_nodes + server);
    }
    nodes = worker_nodes + dedicated;
    lanes = gpus_per_node * worker_nodes + dedicated;
  }

  std::vector<int> node;  ///< by rank
  std::vector<int> lane;  ///< by rank: its place in that order; the last node may leave some empty
  int nodes = 0;
  int lanes = 0;
};

/// What all ranks together send, to ranks of their own node and to others: elements, or bytes.
struct Moved {
  double within = 0, between = 0;

  Moved& operator+=(const Moved& other) {
    within += other.within;
    between += other.between;
    return *this;
  }
  friend Moved operator*(const Moved& moved, double factor) { return {moved.within * factor, moved.between * factor}; }
};
/// Adds `factor` times `more` to a sum, which is not known where a part of it is not.
inline void add(std::optional<Moved>& sum, const std::optional<Moved>& more, double factor = 1) {
  if (sum && more)
    *sum += *more * factor;
  else
    sum.reset();
}

}  // namespace hbench
