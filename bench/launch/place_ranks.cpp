#include "bench/launch/place_ranks.hpp"

#include <fmt/format.h>

#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// Returns the number of ranks on node `node`: its share of the workers, and every `ranks.nodes`-th server.
int ranks_on(const RankCount& ranks, int node) {
  return ranks.workers / ranks.nodes + ranks.servers / ranks.nodes + (node < ranks.servers % ranks.nodes ? 1 : 0);
}

}  // namespace

RankPlaces place_ranks(const Allocation& allocation, const RankCount& ranks) {
  if (ranks.workers % ranks.nodes != 0)
    return {{}, fmt::format("{} ranks are not equally many on {} nodes", ranks.workers, ranks.nodes)};
  if (allocation.is_local()) {
    if (ranks.nodes > 1) return {{}, "this is one machine; name hosts with -H or --hostfile"};
    return {};
  }
  std::vector<const AllocatedHost*> chosen;
  for (const AllocatedHost& host : allocation.hosts)
    if (std::ssize(chosen) < ranks.nodes && host.slots >= ranks_on(ranks, static_cast<int>(chosen.size())))
      chosen.push_back(&host);
  if (std::ssize(chosen) < ranks.nodes)
    return {{},
            fmt::format("{} with {} each are needed, of {}", counted(ranks.nodes, "host"),
                        counted(ranks_on(ranks, 0), "slot"), allocation.in_words())};
  RankPlaces places;
  for (int rank = 0; rank < ranks.workers; ++rank)
    places.host_of_rank.push_back(chosen[static_cast<std::size_t>(rank / (ranks.workers / ranks.nodes))]->name);
  for (int server = 0; server < ranks.servers; ++server)
    places.host_of_rank.push_back(chosen[static_cast<std::size_t>(server % ranks.nodes)]->name);
  return places;
}

int fewest_nodes(const Allocation& allocation, int workers) {
  for (int nodes = 1; nodes <= std::ssize(allocation.hosts); ++nodes)
    if (workers % nodes == 0 && place_ranks(allocation, {.workers = workers, .nodes = nodes}).refusal.empty())
      return nodes;
  return 0;
}

}  // namespace hbench
