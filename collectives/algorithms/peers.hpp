#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// Why `world` is none of workers only, or empty when it is: `Algorithm::refuses` of algorithms without servers.
inline std::string refuse_servers(const World& world) {
  if (world.workers < 1) return "it needs at least 1 worker";
  if (world.servers != 0) return "it has no parameter servers: all ranks are workers";
  return {};
}

/// Into how many segments to cut a message of `bytes`: about `target` bytes each, at least `fewest` of them as long as
/// that leaves each 16 KiB (below, a message costs as much for itself as for its bytes), and at most `most`.
inline int segments_of(std::int64_t bytes, std::int64_t target, int fewest, int most) {
  constexpr std::int64_t kLeast = 16 * 1024;
  const std::int64_t wanted = std::max((bytes + target - 1) / target, std::min<std::int64_t>(fewest, bytes / kLeast));
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, most));
}

}  // namespace hbench
