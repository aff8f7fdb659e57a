#pragma once

/// Stochastic rounding to whole levels from -L to L, packed with 2, 4 or 8 bits each.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/random.hpp"

namespace hbench {

/// The fewest of 2, 4 and 8 bits that hold 2 levels + 1 values. \pre 1 <= levels <= 127
constexpr int level_bits(int levels) { return levels == 1 ? 2 : levels <= 7 ? 4 : 8; }

constexpr std::int64_t level_bytes(std::int64_t elements, int levels) {
  const int per_byte = 8 / level_bits(levels);
  return (elements + per_byte - 1) / per_byte;
}

/// The scale for `encode_levels`: the largest magnitude; NaN when anything is not finite; 0 when all are so small
/// (under 2^-118) that the inverse of a level would be infinite.
float level_scale(std::span<const float> in);

/// |scale| -> `levels`: each x becomes one of the two levels around x / scale * levels, which one by chance, so that
/// the mean is right (to within 2^-17 of a level). `scale` is what `level_scale` says; where it is 0 or NaN, codes are
/// 0. `first` is the position of in[0] in what was drawn. Unused bits are 0.
void encode_levels(std::span<const float> in, float scale, int levels, const RandomKey& key, std::int64_t first,
                   std::span<std::byte> out);

/// Levels times scale / levels; zeros when the scale is 0, NaN when it is not finite. A level beyond `levels`, which no
/// encoder writes, decodes to what its bits say.
void decode_levels(std::span<const std::byte> in, float scale, int levels, TransferKind kind, std::span<float> out);

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
