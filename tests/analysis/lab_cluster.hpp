#pragma once

#include "collectives/network/profile.hpp"

namespace hbench {

/// Eight GPUs and four NICs of 25 GB/s a node.
inline Profile lab_cluster() {
  Profile profile;
  profile.name = "lab";
  profile.gpus_per_node = 8;
  profile.local_latency = Seconds(4e-6);
  profile.local_low_latency = Seconds(1e-6);
  profile.local_rate = BytesPerSecond(235e9);
  profile.network_latency = Seconds(8e-6);
  profile.network_low_latency = Seconds(4e-6);
  profile.line_rate = BytesPerSecond(25e9);
  profile.nics = 4;
  profile.call_latency = Seconds(10e-6);
  return profile;
}

}  // namespace hbench
