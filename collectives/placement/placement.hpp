#pragma once

/// Which parameter server holds what: the family of placements.
///
/// A server that holds one very large tensor is the bottleneck of the whole job (VGG-16's first dense
/// layer is 411 MB of 553 MB), so placement decides how a parameter server scales.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hbench {

/// A run of consecutive elements of one tensor (or fused buffer) that lives on one server.
struct Shard {
  int server = 0;
  std::int64_t elements = 0;

  friend bool operator==(const Shard&, const Shard&) = default;
};

/// One entry of the family. `place` is pure and deterministic.
struct Placement {
  std::string_view name;
  std::string_view summary;
  std::string_view citation;
  /// The GPUs of a node add up before one of them talks to a server, as BytePS and MXNet do (`World::group`).
  bool groups_nodes = false;
  /// For each tensor (elements, in backward order) its shards, in element order; `servers` >= 1.
  std::vector<std::vector<Shard>> (*place)(std::span<const std::int64_t> tensor_elements, int servers);
};

/// The table, in the order in which `hbench list placements` prints it.
std::span<const Placement* const> placements();

}  // namespace hbench
