#include "collectives/placement/placement.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace hbench {
namespace {

std::vector<std::vector<Shard>> place_greedily(std::span<const std::int64_t> tensor_elements, int servers) {
  std::vector<std::size_t> largest_first(tensor_elements.size());
  std::iota(largest_first.begin(), largest_first.end(), std::size_t{0});
  std::ranges::stable_sort(largest_first, std::greater(), [&](std::size_t tensor) { return tensor_elements[tensor]; });

  std::vector<std::int64_t> load(static_cast<std::size_t>(servers));
  std::vector<std::vector<Shard>> placed(tensor_elements.size());
  for (const std::size_t tensor : largest_first) {
    const auto least = std::ranges::min_element(load);
    placed[tensor] = {{static_cast<int>(least - load.begin()), tensor_elements[tensor]}};
    *least += tensor_elements[tensor];
  }
  return placed;
}

std::vector<std::vector<Shard>> place_in_turn(std::span<const std::int64_t> tensor_elements, int servers) {
  std::vector<std::vector<Shard>> placed;
  // Variables are created in forward order, which is the layout read backwards.
  std::size_t creation = tensor_elements.size();
  for (const std::int64_t elements : tensor_elements) {
    --creation;
    placed.push_back({{static_cast<int>(creation % static_cast<std::size_t>(servers)), elements}});
  }
  return placed;
}

/// BytePS's partition of 4,096,000 bytes, in float32 elements.
constexpr std::int64_t kSliceElements = 1'024'000;

std::vector<std::vector<Shard>> place_slices(std::span<const std::int64_t> tensor_elements, int servers) {
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

constexpr Placement kGreedy{
    .name = "greedy",
    .summary = "whole tensors, largest first, each onto the least loaded server",
    .citation = "Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17(2), 1969",
    .place = place_greedily,
};

constexpr Placement kRoundRobin{
    .name = "round-robin",
    .summary = "whole tensors in the order of their creation, as TensorFlow's replica_device_setter",
    .citation = "Abadi et al., TensorFlow: A System for Large-Scale Machine Learning, OSDI 2016",
    .place = place_in_turn,
};

constexpr Placement kSliced{
    .name = "sliced",
    .summary =
        "slices of at most 4,096,000 bytes, as BytePS, each onto the least loaded server; a node's GPUs add up first",
    .citation =
        "Jiang et al., A Unified Architecture for Accelerating Distributed DNN Training in Heterogeneous "
        "GPU/CPU Clusters, OSDI 2020",
    .groups_nodes = true,
    .place = place_slices,
};

constexpr std::array<const Placement*, 3> kTable{&kGreedy, &kRoundRobin, &kSliced};

}  // namespace

std::span<const Placement* const> placements() { return kTable; }

}  // namespace hbench
