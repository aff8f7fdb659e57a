#include <algorithm>
#include <numeric>

#include "collectives/placement/placement.hpp"

namespace hbench {
namespace {

std::vector<std::vector<Shard>> place(std::span<const std::int64_t> tensor_elements, int servers) {
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

}  // namespace

extern const Placement kGreedy;
constinit const Placement kGreedy{
    .name = "greedy",
    .summary = "whole tensors, largest first, each onto the least loaded server",
    .citation = "Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17(2), 1969",
    .place = place,
};

}  // namespace hbench
