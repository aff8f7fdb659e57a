#pragma once

/// The codec `randomk`: the bytes of the host's, positions and values.

#include <cstddef>
#include <cstdint>

#include "collectives/cuda/random.cuh"
#include "collectives/cuda/walk.cuh"

namespace hbench::cuda {

/// Which elements are drawn: one of each of `count` rows of about the same length.
struct RandomSample {
  std::size_t elements;
  std::size_t count;

  struct Drawn {
    std::size_t position;
    float length;  ///< of its row
  };
  HBENCH_ON_BOTH Drawn at(std::size_t i, std::uint64_t key) const {
    const std::size_t begin = elements * i / count;
    const std::size_t length = elements * (i + 1) / count - begin;
    const std::uint32_t random = Random({key, 0}, i).near_bits(0);
    return {begin + (length * random >> 32), static_cast<float>(length)};
  }
};

/// Work items whose elements are those that are drawn; the first one's thread also writes the key.
struct EncodeRandomK {
  static constexpr int kGroup = 1;
  template <int kCount>
  struct Taken {
    float value;
    float length;
  };

  const std::byte* floats;
  std::byte* wire;
  RandomSample sample;
  std::uint64_t key;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t i) const {
    const RandomSample::Drawn drawn = sample.at(i, key);
    return {load_aligned<float>(floats + 4 * drawn.position), drawn.length};
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t i, const Taken<kCount>& taken) const {
    // Processors that keep a NaN set its topmost bit of significance; GPUs make another of it.
    const std::uint32_t nan = same_bits<std::uint32_t>(taken.value) | 0x0040'0000;
    const float product = taken.value * taken.length;
    store_one(wire + 8 + 4 * i, taken.value != taken.value ? nan : same_bits<std::uint32_t>(product));
    if (i == 0) store_one(wire, key);
  }
};

/// Adds what was drawn.
struct AddRandomK {
  static constexpr int kGroup = 1;
  template <int kCount>
  struct Taken {
    std::size_t position;
    float value;
    float sum;
  };

  const std::byte* wire;
  std::byte* floats;
  RandomSample sample;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t i) const {
    const std::size_t position = sample.at(i, load_one<std::uint64_t>(wire)).position;
    return {position, load_one<float>(wire + 8 + 4 * i), load_aligned<float>(floats + 4 * position)};
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t, const Taken<kCount>& taken) const {
    store_one(floats + 4 * taken.position, taken.sum + taken.value);
  }
};

/// The key of a draw, the same on all ranks.
constexpr std::uint64_t randomk_key(const Draw& draw) {
  const RandomKey shared = shared_key_of(draw);
  return mixed(shared.key ^ mixed(shared.offset));
}

}  // namespace hbench::cuda
