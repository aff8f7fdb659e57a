#pragma once

#include <string>

#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// Why `world` is none of workers only, or empty when it is: `Algorithm::refuses` of algorithms without servers.
inline std::string refuse_servers(const World& world) {
  if (world.workers < 1) return "it needs at least 1 worker";
  if (world.servers != 0) return "it has no parameter servers: all ranks are workers";
  return {};
}

}  // namespace hbench
