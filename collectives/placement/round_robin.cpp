#include "collectives/placement/placement.hpp"

namespace hbench {
namespace {

std::vector<std::vector<Shard>> place(std::span<const std::int64_t> tensor_elements, int servers) {
  std::vector<std::vector<Shard>> placed;
  // Variables are created in forward order, which is the layout read backwards.
  std::size_t creation = tensor_elements.size();
  for (const std::int64_t elements : tensor_elements) {
    --creation;
    placed.push_back({{static_cast<int>(creation % static_cast<std::size_t>(servers)), elements}});
  }
  return placed;
}

}  // namespace

extern const Placement kRoundRobin;
constinit const Placement kRoundRobin{
    .name = "round-robin",
    .summary = "whole tensors in the order of their creation, as TensorFlow's replica_device_setter",
    .citation = "Abadi et al., TensorFlow: A System for Large-Scale Machine Learning, OSDI 2016",
    .place = place,
};

}  // namespace hbench
