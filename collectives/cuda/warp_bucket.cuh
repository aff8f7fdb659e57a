#pragma once

/// What encoders have in common whose scale is the largest magnitude of a bucket.

#include <cstddef>
#include <cstdint>

#include "collectives/cuda/portable.cuh"

namespace hbench::cuda {

/// One warp encodes a bucket of `kElements`, each of its 32 lanes as many groups of four; in between it finds the
/// largest of all magnitudes.
template <std::size_t kElements>
struct WarpBucket {
  static constexpr unsigned kLanes = 32;
  static constexpr unsigned kGroups = kElements / (4 * kLanes);
  struct Taken {
    Group<float, 4> groups[kGroups];
  };

  const std::byte* floats;
  std::size_t elements;

  HBENCH_ON_BOTH std::size_t buckets() const { return (elements + kElements - 1) / kElements; }
  /// Whether a bucket is whole, and four of its elements can be one access.
  HBENCH_ON_BOTH bool plain(std::size_t bucket) const {
    return reinterpret_cast<std::uintptr_t>(floats) % 16 == 0 && (bucket + 1) * kElements <= elements;
  }
  static HBENCH_ON_BOTH std::size_t element(std::size_t bucket, unsigned lane, unsigned group) {
    return bucket * kElements + (group * kLanes + lane) * 4;
  }

  /// Zeros behind the end, which change no magnitude. \pre kPlain: the bucket is
  template <bool kPlain>
  HBENCH_ON_BOTH Taken take(std::size_t bucket, unsigned lane) const {
    Taken taken;
    HBENCH_UNROLL
    for (unsigned g = 0; g < kGroups; ++g) {
      const std::size_t first = element(bucket, lane, g);
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

  /// Stores the codes of four elements from `first` on, or of as many as there are, at `at`.
  template <unsigned kBits>
  HBENCH_ON_BOTH void store_codes(std::byte* at, std::size_t first, std::uint32_t packed) const {
    constexpr unsigned kPerByte = 8 / kBits;
    if (first + 4 <= elements) {
      if constexpr (kBits == 4) {
        store_one(at, static_cast<std::uint16_t>(packed));
      } else {
        store_one(at, packed);
      }
      return;
    }
    for (unsigned i = 0; i < 4 / kPerByte && first + i * kPerByte < elements; ++i)
      store_one(at + i, static_cast<std::uint8_t>(packed >> (8 * i)));
  }
};

}  // namespace hbench::cuda
