#pragma once

/// Which elements are the largest. Magnitudes are compared as bits, in which infinities and NaN are larger than
/// numbers.

#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace hbench
