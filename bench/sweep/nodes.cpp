#include "bench/sweep/nodes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/prediction/request.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

NodeChoice refused(int gpus, std::string why) {
  return {{}, {{fmt::format("measured with {}", counted(gpus, "rank")), std::move(why)}}};
}

/// The fewest that hold the ranks.
NodeChoice packed(int gpus, const Allocation& allocation) {
  const int nodes = allocation.is_local() ? 1 : fewest_nodes(allocation, gpus);
  if (nodes > 0) return {{nodes}, {}};
  return refused(gpus, fmt::format("no hosts take equally many of them each, of {}", allocation.in_words()));
}

/// Why ranks cannot be put so; empty where they can.
std::string refuse_layout(const NodeLayout& layout, const MeasuredPlace& place, const Allocation& allocation) {
  if (!place.on_gpu)
    return layout.processes_per_gpu > 1 ? "ranks share GPUs alone; --oversubscribe lets them share cores" : "";
  if (layout.gpus_per_node > place.gpus)
    return fmt::format("{} has {}", allocation.is_local() ? "this machine" : "a host", counted(place.gpus, "GPU"));
  if (layout.processes_per_gpu > 1 && layout.nodes > 1)
    return "NCCL, which alone reaches GPUs of other hosts, takes one rank for each GPU before 2.30";
  return "";
}

}  // namespace

std::vector<int> parse_node_range(std::string_view text) { return parse_count_range(text, {"--nodes", "node", 4096}); }

NodeChoice choose_nodes(int gpus, const std::vector<int>& wanted, int gpus_per_node, const Allocation& allocation) {
  std::vector<int> asked = wanted;
  if (asked.empty() && gpus_per_node > 0) {
    if (gpus > gpus_per_node && gpus % gpus_per_node != 0)
      return refused(gpus, fmt::format("they do not fill nodes of --gpus-per-node {}", gpus_per_node));
    asked = {std::max(gpus / gpus_per_node, 1)};
  }
  if (asked.empty()) return packed(gpus, allocation);
  NodeChoice choice;
  for (const int nodes : asked) {
    RankPlaces places = place_ranks(allocation, {.workers = gpus, .nodes = nodes});
    if (places.refusal.empty())
      choice.nodes.push_back(nodes);
    else
      choice.refused.push_back({fmt::format("measured with {} on {}", counted(gpus, "rank"), counted(nodes, "node")),
                                std::move(places.refusal)});
  }
  return choice;
}

LayoutChoice choose_layouts(int gpus, const SweepRequest& request, const MeasuredPlace& place,
                            const Allocation& allocation) {
  LayoutChoice choice;
  if (request.layouts.empty()) {
    NodeChoice chosen = choose_nodes(gpus, request.nodes, request.gpus_per_node, allocation);
    for (const int nodes : chosen.nodes) choice.layouts.push_back({nodes, gpus / nodes, 1});
    choice.refused = std::move(chosen.refused);
  }
  for (const NodeLayout& layout : request.layouts) {
    if (layout.gpus() != gpus) continue;
    if (std::string why = refuse_layout(layout, place, allocation); why.empty())
      choice.layouts.push_back(layout);
    else
      choice.refused.push_back(
          {fmt::format("measured with {} on {} of {}", counted(layout.ranks(), "rank"), counted(layout.nodes, "node"),
                       counted(layout.gpus_per_node, place.on_gpu ? "GPU" : "core")),
           std::move(why)});
  }
  return choice;
}

RankPlaces places_of(const Allocation& allocation, const Case& asked, int processes) {
  const int nodes = std::max(asked.nodes, 1);
  return place_ranks(allocation, {.workers = asked.workers(), .nodes = nodes, .servers = processes - asked.workers()});
}

}  // namespace hbench
