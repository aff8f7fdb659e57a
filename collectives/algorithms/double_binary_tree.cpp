#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/compose.hpp"

// Rank 0 stands above two binary trees, each of all other ranks, and each carries half of the buffer. The leaves of one
// tree are the inner nodes of the other, so that no rank sends or receives more than twice the buffer in an all-reduce:
// full bandwidth at logarithmic latency. The authors colour the edges so that a rank sends and receives one message at
// a time; here a round of a rank has up to four, because links queue what is posted.

namespace hbench {
namespace {

constexpr std::string_view kCitation =
    "Sanders, Speck and Traff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, Parallel "
    "Computing 35(12), 2009";

constexpr std::int64_t kSegmentBytes = 64 * 1024;
constexpr int kFewest = 4;
constexpr int kMost = 64;

/// Of nodes 1 .. `nodes` of a tree in search order; 0 is above the root. Odd nodes are leaves.
int parent_of(int node, int nodes) {
  const int below = node & -node;  // how many nodes lie between it and either end of its subtree, and 1
  const int above = (node ^ below) | (below << 1);
  return above <= nodes ? above : node ^ below;
}

/// Its left subtree is always there; the right one where nodes are left.
int children_of(int node, int nodes) {
  if (node == 0) return nodes > 0 ? 1 : 0;
  if (node % 2 == 1) return 0;
  return node < nodes ? 2 : 1;
}

int depth_of(int node, int nodes) {
  int depth = 0;
  for (; node != 0; node = parent_of(node, nodes)) ++depth;
  return depth;
}

/// Where a rank stands in a tree. The second one is the first from its other end, or, where that would leave the
/// leaves leaves, turned by one.
int node_of(Rank rank, int tree, int nodes) {
  if (rank == 0 || tree == 0) return rank;
  if (nodes % 2 == 0) return nodes + 1 - rank;
  return rank == 1 ? nodes : rank - 1;
}

Rank rank_at(int node, int tree, int nodes) {
  if (node == 0 || tree == 0) return node;
  return nodes % 2 == 0 ? nodes + 1 - node : node % nodes + 1;
}

/// The first node of a level down the left side is the deepest.
int height(int nodes) { return nodes == 0 ? 0 : depth_of(1, nodes); }

/// Down both trees at once: chunk 0 down the first, chunk 1 down the second.
Schedule broadcast_once(const World& world) {
  const int nodes = world.workers - 1;
  Schedule schedule = empty_schedule(world, CollectiveKind::broadcast, 2);
  schedule.rounds = height(nodes);
  for (int tree = 0; tree < 2; ++tree)
    for (int node = 1; node <= nodes; ++node)
      schedule.transfers.push_back({.round = depth_of(node, nodes) - 1,
                                    .src = rank_at(parent_of(node, nodes), tree, nodes),
                                    .dst = rank_at(node, tree, nodes),
                                    .first_chunk = tree});
  order_by_round(schedule);
  return schedule;
}

Schedule build_broadcast(const ScheduleRequest& request) {
  return pipelined(broadcast_once(request.world), request.segments, 1);
}

Schedule build_all_reduce(const ScheduleRequest& request) {
  const Schedule broadcast = broadcast_once(request.world);
  const Schedule once =
      sequence(reversed(broadcast, CollectiveKind::all_reduce), broadcast, CollectiveKind::all_reduce);
  return pipelined(once, request.segments, 1);
}

Shape shape_of(const ScheduleRequest& request, int passes) {
  const int nodes = request.world.workers - 1;
  const int levels = height(nodes);
  return {2 * request.segments, levels == 0 ? 0 : passes * levels + request.segments - 1,
          2 * std::int64_t{passes} * nodes * request.segments};
}

Traffic traffic_broadcast(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  const int nodes = request.world.workers - 1;
  Traffic both;
  for (int tree = 0; tree < 2; ++tree) {
    const std::int64_t half = cut.size(tree * request.segments, request.segments);
    both = both + Traffic{children_of(node_of(rank, tree, nodes), nodes) * half, rank == 0 ? 0 : half};
  }
  return both;
}

Traffic traffic_all_reduce(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  const Traffic broadcast = traffic_broadcast(request, cut, rank);
  return broadcast.reversed() + broadcast;
}

int segments(const World&, std::int64_t bytes) { return segments_of(bytes / 2, kSegmentBytes, kFewest, kMost); }

}  // namespace

extern constinit const Algorithm kDoubleTreeBroadcast{
    .name = "double-binary-tree",
    .summary = "segments of each half down one of two trees whose leaves are the other's inner nodes",
    .citation = kCitation,
    .collective = CollectiveKind::broadcast,
    .refuses = refuse_servers,
    .build = build_broadcast,
    .shape = [](const ScheduleRequest& request) { return shape_of(request, 1); },
    .traffic = traffic_broadcast,
    .segments = segments,
};

extern constinit const Algorithm kDoubleBinaryTree{
    .name = "double-binary-tree",
    .summary = "segments of each half up and down one of two trees whose leaves are the other's inner nodes",
    .citation = kCitation,
    .refuses = refuse_servers,
    .build = build_all_reduce,
    .shape = [](const ScheduleRequest& request) { return shape_of(request, 2); },
    .traffic = traffic_all_reduce,
    .segments = segments,
};

}  // namespace hbench
