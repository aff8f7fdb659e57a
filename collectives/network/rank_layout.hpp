#pragma once

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

}  // namespace hbench
