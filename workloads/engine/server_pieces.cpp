#include "workloads/engine/server_pieces.hpp"

#include <fmt/format.h>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

/// Two tags each leave some of those that an endpoint reserves.
constexpr int kMostPieces = 4000;

}  // namespace

std::vector<std::vector<ServerPiece>> server_pieces(const TrainingRequest& request, const GradientLayout& layout,
                                                    Endpoint& endpoint) {
  std::vector<std::vector<ServerPiece>> all;
  std::int64_t at = 0;
  int number = 0;
  for (const std::vector<Shard>& shards : request.strategy.placement->place(layout.elements, request.world.servers)) {
    const int tensor = static_cast<int>(all.size());
    std::vector<ServerPiece>& pieces = all.emplace_back();
    for (const Shard& shard : shards) {
      const ElementRange range{at, at + shard.elements};
      at = range.end;
      if (range.size() == 0) continue;
      pieces.push_back({.number = number++,
                        .tensor = tensor,
                        .server = request.world.server_rank(shard.server),
                        .range = range,
                        .push_tag = endpoint.reserve_tag(),
                        .pull_tag = endpoint.reserve_tag()});
    }
  }
  if (number > kMostPieces)
    throw Error(ExitCode::usage,
                fmt::format("the model lies on servers in {} pieces, and {} are the most", number, kMostPieces),
                "take --placement greedy");
  return all;
}

}  // namespace hbench
