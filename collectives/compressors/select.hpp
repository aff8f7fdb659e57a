#pragma once

/// Which elements are the largest. Magnitudes are compared as bits, in which infinities and NaN are larger than
/// numbers.
///
/// Their encoding: some elements of a buffer, the rest being zero: a 32-bit count, the positions (32 bits each,
/// ascending), the values.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/compressors/compressor.hpp"

namespace hbench {

constexpr std::uint32_t kMagnitudeMask = 0x7fff'ffff;

/// Memory that `collect` may write to behind what it returns.
inline constexpr std::size_t kCollectSlack = 1024 + 64;

/// Writes the positions, plus `base`, of the elements whose magnitude is at least `least`, ascending; returns how many.
/// Stops early once there are more than `positions.size() - kCollectSlack`. \pre positions.size() >= kCollectSlack
std::size_t collect(std::span<const float> in, std::uint32_t least, std::uint32_t base,
                    std::span<std::uint32_t> positions);

/// The positions of the `count` elements of the largest magnitude, ascending; of equal ones the first. Exact.
/// \pre count <= in.size() < 2^32 - 1
std::vector<std::uint32_t> largest_elements(std::span<const float> in, std::int64_t count);

/// Bytes for `count` elements.
constexpr std::int64_t sparse_bytes(std::int64_t count) {
  return static_cast<std::int64_t>(sizeof(std::uint32_t)) +
         count * static_cast<std::int64_t>(sizeof(std::uint32_t) + sizeof(float));
}

/// \throws Error (usage) for a buffer whose positions 32 bits do not hold.
void expect_short_positions(std::int64_t elements);

/// ratio x elements, rounded up; none of none.
std::int64_t share_of(std::int64_t elements, double ratio);

/// Writes in[p] for every p of `positions`, which ascend. Returns the bytes written.
std::int64_t encode_sparse(std::span<const float> in, std::span<const std::uint32_t> positions,
                           std::span<std::byte> out);

/// \throws Error (wrong_data) for sizes that do not fit together, and positions that do not ascend or are outside.
void decode_sparse(std::span<const std::byte> in, TransferKind kind, std::span<float> out);

}  // namespace hbench
