#pragma once

/// The codec `minmax8`: the bytes of the host's.

#include <cstddef>
#include <cstdint>

#include "collectives/cuda/walk.cuh"

namespace hbench::cuda {

/// Floats in their order as whole numbers: neighbours differ by one. NaN are at both ends. Its own inverse.
HBENCH_ON_BOTH std::uint32_t float_place(std::uint32_t bits) { return bits >> 31 != 0 ? bits ^ 0x7fff'ffff : bits; }

/// The outermost floats of a message, as numbers of which the largest is the one of all threads: both begin with zeros.
struct Outermost {
  std::uint32_t most = 0;
  std::uint32_t least = 0;  ///< all bits turned

  HBENCH_ON_BOTH void add(float x) {
    const std::uint32_t order = float_place(same_bits<std::uint32_t>(x)) ^ 0x8000'0000;
    most = order > most ? order : most;
    least = ~order > least ? ~order : least;
  }
};

/// The least and the most of a message: NaN where anything is not finite, or they are further apart than a float is.
struct MessageEnds {
  float least;
  float most;

  static HBENCH_ON_BOTH MessageEnds of(const Outermost& found) {
    const MessageEnds ends{same_bits<float>(float_place(~found.least ^ 0x8000'0000)),
                           same_bits<float>(float_place(found.most ^ 0x8000'0000))};
    const float range = ends.most - ends.least;
    const bool finite = (same_bits<std::uint32_t>(range) & 0x7fff'ffff) < 0x7f80'0000;
    const auto nan = same_bits<float>(0x7fc0'0000u);
    return finite ? ends : MessageEnds{nan, nan};
  }
  HBENCH_ON_BOTH bool are_numbers() const { return least == least && most == most; }
  HBENCH_ON_BOTH std::uint32_t first() const { return float_place(same_bits<std::uint32_t>(least)); }
  /// So few floats lie between them that codes count them.
  HBENCH_ON_BOTH bool counts() const { return float_place(same_bits<std::uint32_t>(most)) - first() <= 255; }
};

/// Adds what a thread takes to what it has found.
struct FindOutermost {
  static constexpr int kGroup = 4;
  template <int kCount>
  using Taken = Group<float, kCount>;

  const std::byte* floats;
  Outermost* found;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t element) const {
    return load<float, kCount>(floats + 4 * element);
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t, const Taken<kCount>& taken) const {
    HBENCH_UNROLL
    for (const float x : taken.at) found->add(x);
  }
};

/// The ends, then a byte per element.
struct EncodeMinMax8 {
  static constexpr int kGroup = 4;
  static constexpr std::size_t kEnds = 8;
  template <int kCount>
  struct Taken {
    Group<float, kCount> floats;
    Outermost found;
  };

  const std::byte* floats;
  const Outermost* found;  ///< of all
  std::byte* wire;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t element) const {
    return {load<float, kCount>(floats + 4 * element), *found};
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t element, const Taken<kCount>& taken) const {
    const MessageEnds ends = MessageEnds::of(taken.found);
    const bool numbers = ends.are_numbers(), counts = ends.counts();
    Group<std::uint8_t, kCount> codes;
    HBENCH_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const float x = taken.floats.at[i];
      const std::uint32_t code = counts ? float_place(same_bits<std::uint32_t>(x)) - ends.first() : step(x, ends);
      codes.at[i] = static_cast<std::uint8_t>(numbers ? code : 0);
    }
    store(wire + kEnds + element, codes);
    if (element != 0) return;
    store_one(wire, ends.least);
    store_one(wire + 4, ends.most);
  }

 private:
  static HBENCH_ON_BOTH std::uint32_t step(float x, const MessageEnds& ends) {
    constexpr float kRounder = 0x1p23F;  // leaves a float's integer part, rounded, in its lowest bits
    return same_bits<std::uint32_t>((x - ends.least) / (ends.most - ends.least) * 255 + kRounder);
  }
};

/// Replaces floats, or adds to them.
template <bool kAdd>
struct DecodeMinMax8 {
  static constexpr int kGroup = 4;
  template <int kCount>
  struct Taken {
    Group<std::uint8_t, kCount> codes;
    MessageEnds ends;
    Group<float, kCount> floats;
  };

  const std::byte* wire;
  std::byte* floats;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t element) const {
    Taken<kCount> taken{load<std::uint8_t, kCount>(wire + EncodeMinMax8::kEnds + element),
                        {load_one<float>(wire), load_one<float>(wire + 4)},
                        {}};
    if constexpr (kAdd) taken.floats = load<float, kCount>(floats + 4 * element);
    return taken;
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t element, Taken<kCount> taken) const {
    const MessageEnds ends = taken.ends;
    const bool counts = ends.counts() && ends.are_numbers();
    HBENCH_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const std::uint32_t code = taken.codes.at[i];
      const float value = counts ? same_bits<float>(float_place(ends.first() + code)) : between(code, ends);
      taken.floats.at[i] = kAdd ? taken.floats.at[i] + value : value;
    }
    store(floats + 4 * element, taken.floats);
  }

 private:
  /// NaN where an end is.
  static HBENCH_ON_BOTH float between(std::uint32_t code, const MessageEnds& ends) {
    const float range = ends.most - ends.least;
    const float value = ends.least + static_cast<float>(code) * (1 / 255.0F) * range;
    return code == 255 || value > ends.most ? ends.most : value;
  }
};

inline Extent outermost_extent(const std::byte* floats, std::size_t elements) {
  const Side sides[] = {{floats, 4}};
  return extent_of(elements, 4, sides);
}

template <class Run>
void with_encode_minmax8(const std::byte* floats, const Outermost* found, std::byte* wire, std::size_t elements,
                         Run run) {
  const Side sides[] = {{floats, 4}, {wire + EncodeMinMax8::kEnds, 1}};
  run(EncodeMinMax8{floats, found, wire}, extent_of(elements, 4, sides));
}

template <class Run>
void with_decode_minmax8(const std::byte* wire, bool add, std::byte* floats, std::size_t elements, Run run) {
  const Side sides[] = {{wire + EncodeMinMax8::kEnds, 1}, {floats, 4}};
  const Extent extent = extent_of(elements, 4, sides);
  if (add) {
    run(DecodeMinMax8<true>{wire, floats}, extent);
  } else {
    run(DecodeMinMax8<false>{wire, floats}, extent);
  }
}

}  // namespace hbench::cuda
