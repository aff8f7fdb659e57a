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
};

std::span<const SlowCause> slow_causes();

}  // namespace hbench
