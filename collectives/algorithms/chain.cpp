#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/compose.hpp"

namespace hbench {
namespace {

constexpr std::int64_t kSegmentBytes = 128 * 1024;
constexpr int kFewest = 8;
constexpr int kMost = 256;

/// Every rank passes one segment on while it receives the next.
Schedule build(const ScheduleRequest& request) {
  Schedule once = empty_schedule(request.world, CollectiveKind::broadcast, 1);
  once.rounds = request.world.workers - 1;
  for (Rank rank = 0; rank + 1 < request.world.workers; ++rank)
    once.transfers.push_back({.round = rank, .src = rank, .dst = rank + 1});
  return pipelined(once, request.segments, 1);
}

Shape shape(const ScheduleRequest& request) {
  const int links = request.world.workers - 1;
  return {request.segments, links == 0 ? 0 : links + request.segments - 1, std::int64_t{links} * request.segments};
}

Traffic traffic(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  return {rank + 1 < request.world.workers ? cut.total() : 0, rank > 0 ? cut.total() : 0};
}

}  // namespace

extern constinit const Algorithm kChain{
    .name = "chain",
    .summary = "segments down a chain of ranks: P-2 rounds more than segments, so large buffers at full bandwidth",
    .citation =
        "Pjesivac-Grbovic, Angskun, Bosilca, Fagg, Gabriel and Dongarra, Performance analysis of MPI collective "
        "operations, Cluster Computing 10(2), 2007 (pipeline)",
    .collective = CollectiveKind::broadcast,
    .refuses = refuse_servers,
    .build = build,
    .shape = shape,
    .traffic = traffic,
    .segments = [](const World&, std::int64_t bytes) { return segments_of(bytes, kSegmentBytes, kFewest, kMost); },
};

}  // namespace hbench
