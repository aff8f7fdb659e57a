#pragma once

/// What is often wrong where collectives between GPUs are slow, each as the profile of a cluster on which it is.

#include <optional>
#include <span>
#include <string_view>

#include "collectives/network/profile.hpp"

namespace hbench {

struct SlowCause {
  std::string_view what;
  std::string_view check;  ///< the measurement that tells it from the others
  /// The cluster on which it is, without its measured curves; none where it cannot be: `across` says whether several
  /// nodes took part.
  std::optional<Profile> (*on)(const Profile& healthy, bool across);
  double spread = 0;  ///< |ln| within which it is not known how slow the cluster then is
};

std::span<const SlowCause> slow_causes();

/// The cluster, without its measured curves, where a library runs rings between nodes and no trees. Between two nodes a
/// ring takes nearly twice as long, and both are seen: 86 of 96 GB/s by four NICs of 200 Gbit/s, and 24 by one
/// (github.com/NVIDIA/nccl/issues/1048), are rings'.
Profile with_rings(const Profile& healthy);

}  // namespace hbench
