#pragma once

/// The codec `sign`: the bytes of the host's. Its scale too: additions are in the order of `compressors/signs.hpp`.

#include <cstddef>
#include <cstdint>

#include "collectives/cuda/signed_pieces.cuh"
#include "collectives/cuda/walk.cuh"

namespace hbench::cuda {

/// The scale from the sums of `count` pieces: what one of kAdders threads does before their sums are added pairwise.
HBENCH_ON_BOTH Signed<double> add_pieces(const Signed<double>* pieces, std::size_t count, unsigned thread) {
  Signed<double> sum{0, 0};
  for (std::size_t i = thread; i < count; i += sign_sums::kAdders) {
    sum.positive += pieces[i].positive;
    sum.negative += pieces[i].negative;
  }
  return sum;
}

HBENCH_ON_BOTH float sign_scale(const Signed<double>& sums, std::size_t elements) {
  const double mean = (sums.positive - sums.negative) / static_cast<double>(elements);
  return mean != mean ? same_bits<float>(0x7fc0'0000u) : static_cast<float>(mean);
}

/// Replaces floats, or adds to them.
template <bool kAdd>
struct DecodeSign {
  static constexpr int kGroup = 4;
  template <int kCount>
  struct Taken {
    std::uint32_t signs;
    std::uint32_t magnitude;
    Group<float, kCount> floats;
  };

  const std::byte* wire;
  std::byte* floats;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t element) const {
    Taken<kCount> taken{load_one<std::uint8_t>(wire + 4 + element / 8), load_one<std::uint32_t>(wire), {}};
    if constexpr (kAdd) taken.floats = load<float, kCount>(floats + 4 * element);
    return taken;
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t element, Taken<kCount> taken) const {
    HBENCH_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const std::uint32_t sign = taken.signs << (31 - (element + static_cast<unsigned>(i)) % 8) & 0x8000'0000u;
      // A zero is added where nothing else is: what it makes of -0 is what the host's does.
      taken.floats.at[i] = same_bits<float>(taken.magnitude ^ sign) + (kAdd ? taken.floats.at[i] : 0.0F);
    }
    store(floats + 4 * element, taken.floats);
  }
};

template <class Run>
void with_decode_sign(const std::byte* wire, bool add, std::byte* floats, std::size_t elements, Run run) {
  // A group's signs are in one byte only if it begins at a multiple of 4.
  const Extent extent = extent_from_first(floats, elements, 4);
  if (add) {
    run(DecodeSign<true>{wire, floats}, extent);
  } else {
    run(DecodeSign<false>{wire, floats}, extent);
  }
}

}  // namespace hbench::cuda
