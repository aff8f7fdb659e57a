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

/// One warp encodes one block, each of its 32 lanes two groups of four elements; in between it finds the largest of all
/// magnitudes.
struct EncodeInt4 {
  static constexpr unsigned kLanes = 32;
  static constexpr unsigned kGroups = 2;
  static constexpr int kLevels = 7;
  struct Taken {
    Group<float, 4> groups[kGroups];
  };

  const std::byte* floats;
  std::byte* wire;
  std::size_t elements;

  HBENCH_ON_BOTH std::size_t blocks() const { return (elements + kScaled - 1) / kScaled; }
  /// Whether a block is whole, and four of its elements can be one access.
  HBENCH_ON_BOTH bool plain(std::size_t block) const {
    return reinterpret_cast<std::uintptr_t>(floats) % 16 == 0 && (block + 1) * kScaled <= elements;
  }
  static HBENCH_ON_BOTH std::size_t element(std::size_t block, unsigned lane, unsigned group) {
    return block * kScaled + (group * kLanes + lane) * 4;
  }

  /// Zeros behind the end, which change no magnitude. \pre kPlain: the block is
  template <bool kPlain>
  HBENCH_ON_BOTH Taken take(std::size_t block, unsigned lane) const {
    Taken taken;
    HBENCH_UNROLL
    for (unsigned g = 0; g < kGroups; ++g) {
      const std::size_t first = element(block, lane, g);
      if constexpr (kPlain) {
        taken.groups[g] = load<float, 4>(floats + 4 * first);
      } else {
        HBENCH_UNROLL
        for (unsigned i = 0; i < 4; ++i)
          taken.groups[g].at[i] = first + i < elements ? load_aligned<float>(floats + 4 * (first + i)) : 0.0F;
      }
    }
    return taken;
  }

  static HBENCH_ON_BOTH std::uint32_t magnitude(const Taken& taken) {
    std::uint32_t largest = 0;
    HBENCH_UNROLL
    for (const Group<float, 4>& group : taken.groups) largest = largest_magnitude(group.at, largest);
    return largest;
  }

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
      store_codes(first, packed);
    }
  }

 private:
  /// A level counted from the lowest one.
  static HBENCH_ON_BOTH std::uint32_t code(float x, float inverse) {
    constexpr float kRounder = 0x1.8p23F;  // leaves a float's integer part, rounded, in its lowest bits
    return (same_bits<std::uint32_t>(x * inverse + kRounder) + kLevels) & 0xf;
  }

  /// Of four elements, or as many as there are.
  HBENCH_ON_BOTH void store_codes(std::size_t first, std::uint32_t packed) const {
    std::byte* const at = wire + Int4Layout::levels_at(first);
    if (first + 4 <= elements) return store_one(at, static_cast<std::uint16_t>(packed));
    for (unsigned i = 0; i < 2 && first + 2 * i < elements; ++i)
      store_one(at + i, static_cast<std::uint8_t>(packed >> (8 * i)));
  }
};

}  // namespace hbench::cuda
