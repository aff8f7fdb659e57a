#pragma once

/// The random numbers of `compressors/random`, one by one, on both sides.

#include <cstdint>

#include "collectives/compressors/random.hpp"
#include "collectives/cuda/portable.cuh"

namespace hbench::cuda {

/// lowbias32; see `compressors/random.hpp`.
HBENCH_ON_BOTH std::uint32_t mixed32(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb'352d;
  x = (x ^ (x >> 15)) * 0x846c'a68b;
  return x ^ (x >> 16);
}

/// What random_bits(key, first), random_bits(key, first + 1), ... draw.
class Random {
 public:
  HBENCH_ON_BOTH Random(const RandomKey& key, std::uint64_t first)
      : key_(key.key), first_(key.offset + first), mixed_(mixed(key.key ^ (first_ >> 32))) {}

  /// Returns whether the `count` numbers from the first on share the upper half of their positions. All but few do.
  HBENCH_ON_BOTH bool near(std::uint32_t count) const {
    return static_cast<std::uint32_t>(first_) <= 0xffff'ffffu - (count - 1);
  }
  /// \pre near(ahead + 1). Without arithmetic of 64 bits, which costs more than all else.
  HBENCH_ON_BOTH std::uint32_t near_bits(std::uint32_t ahead) const {
    return hashed(static_cast<std::uint32_t>(first_) + ahead, mixed_);
  }
  HBENCH_ON_BOTH std::uint32_t bits(std::uint64_t ahead) const {
    const std::uint64_t at = first_ + ahead;
    return hashed(static_cast<std::uint32_t>(at), mixed(key_ ^ (at >> 32)));
  }

 private:
  static HBENCH_ON_BOTH std::uint32_t hashed(std::uint32_t at, std::uint64_t key) {
    return mixed32(mixed32(at ^ static_cast<std::uint32_t>(key)) + static_cast<std::uint32_t>(key >> 32));
  }

  std::uint64_t key_;
  std::uint64_t first_;
  std::uint64_t mixed_;
};

}  // namespace hbench::cuda
