#pragma once

/// What the 32 lanes of a warp do together. On the device only.

#include <cstdint>

namespace hbench::cuda {

constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = 0xffff'ffff;

__device__ inline std::uint32_t largest_of_warp(std::uint32_t value) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2)
    value = max(value, __shfl_xor_sync(kAllLanes, value, distance));
  return value;
}

}  // namespace hbench::cuda
