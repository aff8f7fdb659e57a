#pragma once

/// The codec `onebit`: the bytes of the host's. Its means too: additions are in the order of `compressors/signs.hpp`.

#include <cstddef>
#include <cstdint>

#include "collectives/cuda/signed_pieces.cuh"
#include "collectives/cuda/walk.cuh"

namespace hbench::cuda {

/// Where things are in an encoding: for every 2048 elements the two means, then their signs.
struct OneBitLayout {
  static constexpr std::size_t kBlock = 2048, kMeans = 8, kStride = kMeans + kBlock / 8;
  static HBENCH_ON_BOTH std::size_t means_at(std::size_t element) { return element / kBlock * kStride; }
  static HBENCH_ON_BOTH std::size_t signs_at(std::size_t element) {
    return means_at(element) + kMeans + element % kBlock / 8;
  }
};

/// As many lanes as a piece of signs has add up a block, in two parts: whole rows, and what fills none.
struct EncodeOneBit {
  static constexpr unsigned kParts = 2;

  const std::byte* floats;
  std::byte* wire;
  std::size_t elements;

  HBENCH_ON_BOTH std::size_t blocks() const { return (elements + OneBitLayout::kBlock - 1) / OneBitLayout::kBlock; }
  /// Empty behind the last one.
  HBENCH_ON_BOTH EncodeSign block(std::size_t index) const {
    const std::size_t begin = index < blocks() ? index * OneBitLayout::kBlock : elements;
    const std::size_t left = elements - begin;
    return {floats + 4 * begin, wire + OneBitLayout::signs_at(begin),
            left < OneBitLayout::kBlock ? left : OneBitLayout::kBlock};
  }
  HBENCH_ON_BOTH void give(std::size_t index, const Signed<double>& sums, unsigned negatives) const {
    const auto count = static_cast<unsigned>(block(index).elements);
    std::byte* const means = wire + OneBitLayout::means_at(index * OneBitLayout::kBlock);
    store_one(means, mean(sums.positive, count - negatives));
    store_one(means + 4, mean(sums.negative, negatives));
  }

 private:
  static HBENCH_ON_BOTH float mean(double sum, unsigned count) {
    if (count == 0) return 0;
    const double mean = sum / static_cast<double>(count);
    return mean != mean ? same_bits<float>(0x7fc0'0000u) : static_cast<float>(mean);
  }
};

/// Replaces floats, or adds to them.
template <bool kAdd>
struct DecodeOneBit {
  static constexpr int kGroup = 4;
  template <int kCount>
  struct Taken {
    std::uint32_t signs;
    float plus, minus;
    Group<float, kCount> floats;
  };

  const std::byte* wire;
  std::byte* floats;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t element) const {
    const std::byte* const means = wire + OneBitLayout::means_at(element);
    Taken<kCount> taken{load_one<std::uint8_t>(wire + OneBitLayout::signs_at(element)),
                        load_one<float>(means),
                        load_one<float>(means + 4),
                        {}};
    if constexpr (kAdd) taken.floats = load<float, kCount>(floats + 4 * element);
    return taken;
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t element, Taken<kCount> taken) const {
    HBENCH_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const bool is_minus = (taken.signs >> (element + static_cast<unsigned>(i)) % 8 & 1) != 0;
      const float value = is_minus ? taken.minus : taken.plus;
      taken.floats.at[i] = kAdd ? taken.floats.at[i] + value : value;
    }
    store(floats + 4 * element, taken.floats);
  }
};

template <class Run>
void with_decode_onebit(const std::byte* wire, bool add, std::byte* floats, std::size_t elements, Run run) {
  // A group's signs are in one byte only if it begins at a multiple of 4.
  const Extent extent = extent_from_first(floats, elements, 4);
  if (add) {
    run(DecodeOneBit<true>{wire, floats}, extent);
  } else {
    run(DecodeOneBit<false>{wire, floats}, extent);
  }
}

}  // namespace hbench::cuda
