#pragma once

/// The work items (`walk.cuh`) of the codecs fp16, bf16 and int8: the bytes of the host's codecs of these names.

#include <cstddef>
#include <cstdint>
#include <limits>

#include "collectives/cuda/elements.cuh"
#include "collectives/cuda/walk.cuh"

namespace hbench::cuda {

/// Four floats are 16 bytes; their encoded form is less, and neighbouring threads' accesses are one.
constexpr int kFloats = 4;

template <class Format>
struct Narrow {
  static constexpr int kGroup = kFloats;
  template <int kCount>
  using Taken = Group<float, kCount>;

  const std::byte* floats;
  std::byte* halves;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t element) const {
    return load<float, kCount>(floats + 4 * element);
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t element, const Taken<kCount>& taken) const {
    Group<std::uint16_t, kCount> narrowed;
    HBENCH_UNROLL
    for (int i = 0; i < kCount; ++i) narrowed.at[i] = Format::narrowed(taken.at[i]);
    store(halves + 2 * element, narrowed);
  }
};

/// Replaces floats, or adds to them.
template <class Format, bool kAdd>
struct Widen {
  static constexpr int kGroup = kFloats;
  template <int kCount>
  struct Taken {
    Group<std::uint16_t, kCount> halves;
    Group<float, kCount> floats;
  };

  const std::byte* halves;
  std::byte* floats;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t element) const {
    Taken<kCount> taken{load<std::uint16_t, kCount>(halves + 2 * element), {}};
    if constexpr (kAdd) taken.floats = load<float, kCount>(floats + 4 * element);
    return taken;
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t element, Taken<kCount> taken) const {
    HBENCH_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const float value = Format::widened(taken.halves.at[i]);
      taken.floats.at[i] = kAdd ? taken.floats.at[i] + value : value;
    }
    store(floats + 4 * element, taken.floats);
  }
};

/// int8: a byte per element, then a scale for every 256 of them.
constexpr std::size_t kScaled = 256;

/// As the host's block_step: 16 significant bits; NaN for what is not finite, 0 for what is too small.
template <int kLargestCode>
HBENCH_ON_BOTH float step_for(std::uint32_t magnitude) {
  constexpr std::uint32_t kDropped = 0xff;
  constexpr float kSmallest = std::numeric_limits<float>::min();
  constexpr float kLargest = std::numeric_limits<float>::max() / kLargestCode;
  if (magnitude >= 0x7f80'0000) return same_bits<float>(0x7fc0'0000u);
  const float scale = same_bits<float>(magnitude) / kLargestCode;
  if (scale < kSmallest) return 0;
  const std::uint32_t rounded = (same_bits<std::uint32_t>(scale) + kDropped) & ~kDropped;
  const std::uint32_t largest = same_bits<std::uint32_t>(kLargest) & ~kDropped;
  return same_bits<float>(rounded < largest ? rounded : largest);
}

/// One warp encodes one block: each of its 32 lanes has 8 elements. In between it finds the largest of all magnitudes.
struct EncodeInt8 {
  static constexpr unsigned kLanes = 32;
  static constexpr unsigned kEach = kScaled / kLanes;
  struct Taken {
    float at[kEach];
  };

  const std::byte* floats;
  std::byte* codes;
  std::size_t elements;

  HBENCH_ON_BOTH std::size_t blocks() const { return (elements + kScaled - 1) / kScaled; }
  /// Whether four elements can be one access, in whole blocks.
  HBENCH_ON_BOTH bool aligned() const {
    return reinterpret_cast<std::uintptr_t>(floats) % 16 == 0 && reinterpret_cast<std::uintptr_t>(codes) % 4 == 0;
  }
  HBENCH_ON_BOTH bool whole(std::size_t block) const { return (block + 1) * kScaled <= elements; }

  /// The i-th access of a lane, of `kCount` elements, begins so far into the block: lanes are neighbours.
  template <unsigned kCount>
  static HBENCH_ON_BOTH unsigned position(unsigned lane, unsigned i) {
    return (i * kLanes + lane) * kCount;
  }

  /// What lies behind the end is 0, which changes no magnitude. \pre kCount is 1, or 4 in whole aligned blocks
  template <unsigned kCount>
  HBENCH_ON_BOTH Taken take(std::size_t block, unsigned lane) const {
    Taken taken{};
    HBENCH_UNROLL
    for (unsigned i = 0; i < kEach / kCount; ++i) {
      const std::size_t element = block * kScaled + position<kCount>(lane, i);
      if (kCount == 1 && element >= elements) continue;
      const auto group = load<float, kCount>(floats + 4 * element);
      HBENCH_UNROLL
      for (unsigned k = 0; k < kCount; ++k) taken.at[i * kCount + k] = group.at[k];
    }
    return taken;
  }

  static HBENCH_ON_BOTH std::uint32_t magnitude(const Taken& taken) { return largest_magnitude(taken.at); }

  /// `largest` of all lanes' magnitudes.
  template <unsigned kCount>
  HBENCH_ON_BOTH void give(std::size_t block, unsigned lane, const Taken& taken, std::uint32_t largest) const {
    constexpr float kRounder = 0x1.8p23F;  // leaves a float's integer part, rounded, in its lowest bits
    const float scale = step_for<127>(largest);
    const bool encodes = scale > 0;
    const float inverse = 1 / scale;
    HBENCH_UNROLL
    for (unsigned i = 0; i < kEach / kCount; ++i) {
      const std::size_t element = block * kScaled + position<kCount>(lane, i);
      if (kCount == 1 && element >= elements) continue;
      Group<std::uint8_t, kCount> group;
      HBENCH_UNROLL
      for (unsigned k = 0; k < kCount; ++k) {
        const auto code = same_bits<std::uint32_t>(taken.at[i * kCount + k] * inverse + kRounder);
        group.at[k] = static_cast<std::uint8_t>(encodes ? code : 0);
      }
      store(codes + element, group);
    }
    if (lane == 0) store_one(codes + elements + 4 * block, scale);
  }
};

template <bool kAdd>
struct DecodeInt8 {
  static constexpr int kGroup = kFloats;
  template <int kCount>
  struct Taken {
    Group<std::int8_t, kCount> codes;
    float scale;
    Group<float, kCount> floats;
  };

  const std::byte* codes;
  std::byte* floats;
  std::size_t elements;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t element) const {
    Taken<kCount> taken{
        load<std::int8_t, kCount>(codes + element), load_one<float>(codes + elements + 4 * (element / kScaled)), {}};
    if constexpr (kAdd) taken.floats = load<float, kCount>(floats + 4 * element);
    return taken;
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t element, Taken<kCount> taken) const {
    HBENCH_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const float value = static_cast<float>(taken.codes.at[i]) * taken.scale;
      taken.floats.at[i] = kAdd ? taken.floats.at[i] + value : value;
    }
    store(floats + 4 * element, taken.floats);
  }
};

/// Calls `run(work, extent)` for what the host's fp16 or bf16 does.
template <class Format, class Run>
void with_narrow(const std::byte* floats, std::byte* halves, std::size_t elements, Run run) {
  const Side sides[] = {{floats, 4}, {halves, 2}};
  run(Narrow<Format>{floats, halves}, extent_of(elements, kFloats, sides));
}

template <class Format, class Run>
void with_widen(const std::byte* halves, bool add, std::byte* floats, std::size_t elements, Run run) {
  const Side sides[] = {{halves, 2}, {floats, 4}};
  const Extent extent = extent_of(elements, kFloats, sides);
  if (add) {
    run(Widen<Format, true>{halves, floats}, extent);
  } else {
    run(Widen<Format, false>{halves, floats}, extent);
  }
}

template <class Run>
void with_decode_int8(const std::byte* codes, bool add, std::byte* floats, std::size_t elements, Run run) {
  const Side sides[] = {{codes, 1}, {floats, 4}};
  Extent extent = extent_of(elements, kFloats, sides);
  // A group has one scale only if it begins at a multiple of 4.
  if (extent.head != 0) extent = {elements, 0, 0};
  if (add) {
    run(DecodeInt8<true>{codes, floats, elements}, extent);
  } else {
    run(DecodeInt8<false>{codes, floats, elements}, extent);
  }
}

}  // namespace hbench::cuda
