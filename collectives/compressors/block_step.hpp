#pragma once

/// The step between the codes of a block of elements. Internal to `compressors/`.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace hbench {

/// Returns a step of which `codes` reach the block's largest magnitude (given as bits, in which infinities and NaN are
/// larger than numbers): NaN where that is not finite, 0 where the inverse of the step would be infinite. It has 16
/// significant bits, so that code x step is exact and what was decoded is encoded to itself.
inline float block_step(std::uint32_t magnitude, float codes) {
  constexpr std::uint32_t kDropped = 0xff;
  constexpr std::uint32_t kInfinity = 0x7f80'0000;
  if (magnitude >= kInfinity) return std::numeric_limits<float>::quiet_NaN();
  const float step = std::bit_cast<float>(magnitude) / codes;
  if (step < std::numeric_limits<float>::min()) return 0;
  // All codes' steps must not exceed the largest float.
  const std::uint32_t largest = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::max() / codes) & ~kDropped;
  const std::uint32_t rounded = (std::bit_cast<std::uint32_t>(step) + kDropped) & ~kDropped;
  return std::bit_cast<float>(std::min(rounded, largest));
}

}  // namespace hbench
