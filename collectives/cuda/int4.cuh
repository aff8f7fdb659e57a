#pragma once

/// The codec `int4`: the bytes of the host's.

#include <cstddef>
#include <cstdint>

#include "collectives/cuda/codecs.cuh"
#include "collectives/cuda/qsgd.cuh"

namespace hbench::cuda {

/// Where things are in an encoding: levels of 4 bits, then the magnitude of the outermost level for every 256 of them.
struct Int4Layout {
  static constexpr unsigned kBits = 4;
  static constexpr std::size_t kBucket = kScaled;

  std::size_t elements;

  HBENCH_ON_BOTH std::size_t scale_at(std::size_t block) const { return (elements + 1) / 2 + 4 * block; }
  /// Of an element that begins a byte, or the one after it.
  static HBENCH_ON_BOTH std::size_t levels_at(std::size_t element) { return element / 2; }
};

/// Its buckets are the blocks that have a scale.
struct EncodeInt4 : WarpBucket<kScaled> {
  static constexpr int kLevels = 7;

  std::byte* wire;

  /// `largest` of all lanes' magnitudes.
  HBENCH_ON_BOTH void give(std::size_t block, unsigned lane, const Taken& taken, std::uint32_t largest) const {
    const float step = step_for<kLevels>(same_bits<std::uint32_t>(level_scale_of(largest)));
    if (lane == 0) store_one(wire + Int4Layout{elements}.scale_at(block), step == step ? kLevels * step : step);
    const float inverse = 1 / step;
    HBENCH_UNROLL
    for (unsigned g = 0; g < kGroups; ++g) {
      const std::size_t first = element(block, lane, g);
      std::uint32_t packed = 0;
      HBENCH_UNROLL
      for (unsigned i = 0; i < 4; ++i)
        if (step > 0 && first + i < elements) packed |= code(taken.groups[g].at[i], inverse) << (4 * i);
      store_codes<Int4Layout::kBits>(wire + Int4Layout::levels_at(first), first, packed);
    }
  }

 private:
  /// A level counted from the lowest one.
  static HBENCH_ON_BOTH std::uint32_t code(float x, float inverse) {
    constexpr float kRounder = 0x1.8p23F;  // leaves a float's integer part, rounded, in its lowest bits
    return (same_bits<std::uint32_t>(x * inverse + kRounder) + kLevels) & 0xf;
  }
};

}  // namespace hbench::cuda
