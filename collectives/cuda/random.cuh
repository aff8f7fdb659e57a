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

/// What random_bits(key, position) draws. Costly arithmetic of 64 bits is done once for positions that share their
/// upper 32 bits with `first`: all but few.
class Random {
 public:
  HBENCH_ON_BOTH Random(const RandomKey& key, std::uint64_t first)
      : key_(key), upper_((key.offset + first) >> 32), mixed_(mixed(key.key ^ upper_)) {}

  HBENCH_ON_BOTH std::uint32_t bits(std::uint64_t position) const {
    const std::uint64_t at = key_.offset + position;
    const std::uint64_t key = at >> 32 == upper_ ? mixed_ : mixed(key_.key ^ (at >> 32));
    return mixed32(mixed32(static_cast<std::uint32_t>(at) ^ static_cast<std::uint32_t>(key)) +
                   static_cast<std::uint32_t>(key >> 32));
  }

 private:
  RandomKey key_;
  std::uint64_t upper_;
  std::uint64_t mixed_;
};

}  // namespace hbench::cuda
