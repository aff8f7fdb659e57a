#include "bench/sweep/nodes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/prediction/request.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

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

/// The numbers of nodes that are asked for, or that suit.
std::vector<int> choose_nodes(int gpus, const SweepRequest& request, const Allocation& allocation,
                              std::vector<Refusal>& refused) {
  const int per_node = request.gpus_per_node;
  const auto none = [&](std::string why) {
    refuse(refused, fmt::format("measured with {}", counted(gpus, "rank")), std::move(why));
    return std::vector<int>();
  };
  if (request.nodes.empty() && per_node == 0) {
    const int nodes = allocation.is_local() ? 1 : fewest_nodes(allocation, gpus);
    if (nodes > 0) return {nodes};
    return none(fmt::format("no hosts take equally many of them each, of {}", allocation.in_words()));
  }
  if (request.nodes.empty() && gpus > per_node && gpus % per_node != 0)
    return none(fmt::format("they do not fill nodes of --gpus-per-node {}", per_node));
  std::vector<int> chosen = request.nodes.empty() ? std::vector{std::max(gpus / per_node, 1)} : request.nodes;
  std::erase_if(chosen, [&](int nodes) {
    RankPlaces places = place_ranks(allocation, {.workers = gpus, .nodes = nodes});
    if (places.refusal.empty()) return false;
    refuse(refused, fmt::format("measured with {} on {}", counted(gpus, "rank"), counted(nodes, "node")),
           std::move(places.refusal));
    return true;
  });
  return chosen;
}

}  // namespace

std::vector<int> parse_node_range(std::string_view text) { return parse_count_range(text, {"--nodes", "node", 4096}); }

std::vector<NodeLayout> choose_layouts(int gpus, const SweepRequest& request, const MeasuredPlace& place,
                                       const Allocation& allocation, std::vector<Refusal>& refused) {
  std::vector<NodeLayout> layouts;
  if (request.layouts.empty())
    for (const int nodes : choose_nodes(gpus, request, allocation, refused))
      layouts.push_back({nodes, gpus / nodes, 1});
  for (const NodeLayout& layout : request.layouts) {
    if (layout.gpus() != gpus) continue;
    std::string why = refuse_layout(layout, place, allocation);
    if (why.empty())
      layouts.push_back(layout);
    else
      refuse(refused,
             fmt::format("measured with {} on {} of {}", counted(layout.ranks(), "rank"), counted(layout.nodes, "node"),
                         counted(layout.gpus_per_node, place.on_gpu ? "GPU" : "core")),
             std::move(why));
  }
  return layouts;
}

RankPlaces places_of(const Allocation& allocation, const Case& asked, int processes) {
  const int nodes = std::max(asked.nodes, 1);
  return place_ranks(allocation, {.workers = asked.workers(), .nodes = nodes, .servers = processes - asked.workers()});
}

}  // namespace hbench
