#include <algorithm>

#include "collectives/placement/placement.hpp"

namespace hbench {
namespace {

/// BytePS's partition of 4,096,000 bytes, in float32 elements.
constexpr std::int64_t kSliceElements = 1'024'000;

std::vector<std::vector<Shard>> place(std::span<const std::int64_t> tensor_elements, int servers) {
  std::vector<std::vector<Shard>> placed;
  int server = 0;
  for (const std::int64_t elements : tensor_elements) {
    std::vector<Shard>& shards = placed.emplace_back();
    for (std::int64_t begin = 0; begin < elements; begin += kSliceElements) {
      shards.push_back({server, std::min(kSliceElements, elements - begin)});
      // The next tensor goes on where this one ended; otherwise server 0 would get every first slice.
      server = (server + 1) % servers;
    }
  }
  return placed;
}

}  // namespace

extern const Placement kSliced;
constinit const Placement kSliced{
    .name = "sliced",
    .summary = "slices of at most 4,096,000 bytes, dealt to the servers in turn, as BytePS",
    .citation =
        "Jiang et al., A Unified Architecture for Accelerating Distributed DNN Training in Heterogeneous "
        "GPU/CPU Clusters, OSDI 2020",
    .place = place,
};

}  // namespace hbench
