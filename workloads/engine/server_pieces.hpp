#pragma once

/// Which servers hold what, where they apply gradients as they come.

#include <vector>

#include "collectives/endpoints/endpoint.hpp"
#include "workloads/engine/layout.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// A run of elements of one tensor on one server. What workers push to it travels by one tag, what they pull by
/// another.
struct ServerPiece {
  int number = 0;  ///< among those of all servers
  int tensor = 0;
  Rank server = 0;     ///< the rank that holds it
  ElementRange range;  ///< of the flat buffers
  int push_tag = 0, pull_tag = 0;

  /// Its part of a flat buffer.
  std::span<float> of(std::span<float> buffer) const {
    return buffer.subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.size()));
  }
};

/// By tensor, the same on all ranks, which call it at the same place: it reserves tags. A server may hold several runs
/// of one tensor. \throws Error (usage) where there are more pieces than tags.
std::vector<std::vector<ServerPiece>> server_pieces(const TrainingRequest& request, const GradientLayout& layout,
                                                    Endpoint& endpoint);

}  // namespace hbench
