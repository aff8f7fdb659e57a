#pragma once

/// The codec `qsgd`: the bytes of the host's, random numbers and all.

#include <cstddef>
#include <cstdint>

#include "collectives/cuda/random.cuh"
#include "collectives/cuda/walk.cuh"

namespace hbench::cuda {

/// What encoders have in common whose scale is the largest magnitude of a bucket: one warp encodes a bucket of
/// `kElements`, each of its 32 lanes as many groups of four; in between it finds the largest of all magnitudes.
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

/// Where things are in an encoding: for every 512 elements a scale, then their levels, of kBits bits.
template <unsigned kBitsOfLevel>
struct QsgdLayout {
  static constexpr unsigned kBits = kBitsOfLevel;
  static constexpr std::size_t kBucket = 512;
  static constexpr std::size_t kStride = 4 + kBucket * kBits / 8;

  static HBENCH_ON_BOTH std::size_t scale_at(std::size_t bucket) { return bucket * kStride; }
  /// Of an element that begins a byte.
  static HBENCH_ON_BOTH std::size_t levels_at(std::size_t element) {
    return element / kBucket * kStride + 4 + element % kBucket * kBits / 8;
  }
};

/// As hbench::level_scale of the largest magnitude.
HBENCH_ON_BOTH float level_scale_of(std::uint32_t magnitude) {
  if (magnitude >= 0x7f80'0000) return same_bits<float>(0x7fc0'0000u);
  const auto scale = same_bits<float>(magnitude);
  return scale < 0x1p-118F ? 0 : scale;
}

template <unsigned kBits>
struct EncodeQsgd : WarpBucket<QsgdLayout<kBits>::kBucket> {
  using Layout = QsgdLayout<kBits>;
  using Bucket = WarpBucket<Layout::kBucket>;
  using typename Bucket::Taken;

  std::byte* wire;
  int levels;
  RandomKey key;

  HBENCH_ON_BOTH Random random(std::size_t bucket) const { return {key, bucket * Layout::kBucket}; }
  /// Whether the bucket is plain, and its random numbers are near.
  HBENCH_ON_BOTH bool plain(std::size_t bucket) const {
    return Bucket::plain(bucket) && random(bucket).near(Layout::kBucket);
  }

  /// `largest` of all lanes' magnitudes. \pre kPlain: the bucket is
  template <bool kPlain>
  HBENCH_ON_BOTH void give(std::size_t bucket, unsigned lane, const Taken& taken, std::uint32_t largest) const {
    const float scale = level_scale_of(largest);
    const float factor = static_cast<float>(levels) / scale;
    const Random random = this->random(bucket);
    if (lane == 0) store_one(wire + Layout::scale_at(bucket), scale);
    HBENCH_UNROLL
    for (unsigned g = 0; g < Bucket::kGroups; ++g) {
      const std::size_t first = Bucket::element(bucket, lane, g);
      const std::size_t left = first < this->elements ? this->elements - first : 0;
      const auto ahead = static_cast<std::uint32_t>(first - bucket * Layout::kBucket);
      const std::size_t count = kPlain || left >= 4 ? 4 : left;
      this->template store_codes<kBits>(wire + Layout::levels_at(first), first,
                                        scale > 0 ? codes<kPlain>(taken.groups[g], count, factor, random, ahead) : 0);
    }
  }

 private:
  template <bool kPlain>
  HBENCH_ON_BOTH std::uint32_t codes(const Group<float, 4>& group, std::size_t count, float factor,
                                     const Random& random, std::uint32_t ahead) const {
    std::uint32_t packed = 0;
    HBENCH_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      if (!kPlain && i >= count) continue;
      const std::uint32_t bits = kPlain ? random.near_bits(ahead + i) : random.bits(ahead + i);
      packed |= code(group.at[i], factor, bits) << (kBits * i);
    }
    return packed;
  }

  HBENCH_ON_BOTH std::uint32_t code(float x, float factor, std::uint32_t random) const {
    const float chance = (static_cast<float>(static_cast<std::int32_t>(random >> 16)) + 0.5F) * 0x1p-16F;
    const auto level = static_cast<std::int32_t>(x * factor + (static_cast<float>(levels) + chance));
    return static_cast<std::uint32_t>(level < 0 ? 0 : level > 2 * levels ? 2 * levels : level);
  }
};

/// Levels of 4 or 8 bits, wherever `layout` says. Replaces floats, or adds to them.
template <class Layout, bool kAdd>
struct DecodeLevels {
  static constexpr unsigned kBits = Layout::kBits;
  static constexpr int kGroup = 4;
  template <int kCount>
  struct Taken {
    std::uint32_t codes;
    float scale;
    Group<float, kCount> floats;
  };

  const std::byte* wire;
  std::byte* floats;
  int levels;
  Layout layout = {};

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t element) const {
    const std::byte* const at = wire + layout.levels_at(element);
    Taken<kCount> taken;
    if constexpr (kCount == 1) {
      taken.codes = std::uint32_t{load_one<std::uint8_t>(at)} >> (element * kBits % 8);
    } else if constexpr (kBits == 4) {
      taken.codes = load_one<std::uint16_t>(at);
    } else {
      taken.codes = load_one<std::uint32_t>(at);
    }
    taken.scale = load_one<float>(wire + layout.scale_at(element / Layout::kBucket));
    if constexpr (kAdd) taken.floats = load<float, kCount>(floats + 4 * element);
    return taken;
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t element, Taken<kCount> taken) const {
    const float step = taken.scale / static_cast<float>(levels);
    // Codes of 0 would be the lowest level.
    const bool zero = step == 0;
    if (kAdd && zero) return;
    HBENCH_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const auto code = static_cast<std::int32_t>(taken.codes >> (kBits * static_cast<unsigned>(i)) & kMask);
      const float value = zero ? 0.0F : static_cast<float>(code - levels) * step;
      taken.floats.at[i] = kAdd ? taken.floats.at[i] + value : value;
    }
    store(floats + 4 * element, taken.floats);
  }

 private:
  static constexpr std::uint32_t kMask = (1u << kBits) - 1;
};

/// Calls `run` with an encoder of as many bits as `levels` need. \pre levels >= 2, since qsgd has no fewer
template <class Run>
void with_encode_qsgd(const std::byte* floats, std::byte* wire, std::size_t elements, int levels, const RandomKey& key,
                      Run run) {
  if (levels <= 7) {
    run(EncodeQsgd<4>{{floats, elements}, wire, levels, key});
  } else {
    run(EncodeQsgd<8>{{floats, elements}, wire, levels, key});
  }
}

template <class Layout, class Run>
void with_decode_levels(const std::byte* wire, int levels, const Layout& layout, bool add, std::byte* floats,
                        std::size_t elements, Run run) {
  // A group begins a byte, and is in one bucket, only if it begins at a multiple of 4.
  const Extent extent = extent_from_first(floats, elements, 4);
  if (add) {
    run(DecodeLevels<Layout, true>{wire, floats, levels, layout}, extent);
  } else {
    run(DecodeLevels<Layout, false>{wire, floats, levels, layout}, extent);
  }
}

template <class Run>
void with_decode_qsgd(const std::byte* wire, int levels, bool add, std::byte* floats, std::size_t elements, Run run) {
  if (levels <= 7) {
    with_decode_levels(wire, levels, QsgdLayout<4>{}, add, floats, elements, run);
  } else {
    with_decode_levels(wire, levels, QsgdLayout<8>{}, add, floats, elements, run);
  }
}

}  // namespace hbench::cuda
