#pragma once

#include <algorithm>
#include <cstdint>

namespace hbench {

/// Into how many segments to cut a message of `bytes`: about `target` bytes each, at least `fewest` of them as long as
/// that leaves each 16 KiB (below, a message costs as much for itself as for its bytes), and at most `most`.
inline int segments_of(std::int64_t bytes, std::int64_t target, int fewest, int most) {
  constexpr std::int64_t kLeast = 16 * 1024;
  const std::int64_t wanted = std::max((bytes + target - 1) / target, std::min<std::int64_t>(fewest, bytes / kLeast));
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, most));
}

}  // namespace hbench
