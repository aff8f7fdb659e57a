#include <algorithm>

#include "collectives/placement/placement.hpp"

namespace hbench {
namespace {

/// BytePS's partition of 4,096,000 bytes, in float32 elements.
constexpr std::int64_t kSliceElements = 1'024'000;

std::vector<std::vector<Shard>> place(std::span<const std::int64_t> tensor_elements, int servers) {
  // In turn when all slices are full. Counting slices instead of bytes would go wrong where small tensors alternate
  // with large ones: in ResNet-152 every third tensor is large, and one of three servers would get most of them.
  std::vector<std::int64_t> load(static_cast<std::size_t>(servers));
  std::vector<std::vector<Shard>> placed;
  for (const std::int64_t elements : tensor_elements) {
    std::vector<Shard>& shards = placed.emplace_back();
    for (std::int64_t begin = 0; begin < elements; begin += kSliceElements) {
      const auto least = std::ranges::min_element(load);
      shards.push_back({static_cast<int>(least - load.begin()), std::min(kSliceElements, elements - begin)});
      *least += shards.back().elements;
    }
  }
  return placed;
}

}  // namespace

extern const Placement kSliced;
constinit const Placement kSliced{
    .name = "sliced",
    .summary =
        "slices of at most 4,096,000 bytes, as BytePS, each onto the least loaded server; a node's GPUs add up first",
    .citation =
        "Jiang et al., A Unified Architecture for Accelerating Distributed DNN Training in Heterogeneous "
        "GPU/CPU Clusters, OSDI 2020",
    .groups_nodes = true,
    .place = place,
};

}  // namespace hbench
