#pragma once

/// Encodings of `compressors/sparse`: a count, positions, values.

#include <cstddef>
#include <cstdint>

#include "collectives/cuda/walk.cuh"

namespace hbench::cuda {

struct SparseWire {
  std::byte* wire;
  std::size_t count;

  HBENCH_ON_BOTH std::byte* position_at(std::size_t i) const { return wire + 4 + 4 * i; }
  HBENCH_ON_BOTH std::byte* value_at(std::size_t i) const { return wire + 4 + 4 * (count + i); }
  HBENCH_ON_BOTH void give_count() const { store_one(wire, static_cast<std::uint32_t>(count)); }
  HBENCH_ON_BOTH void give(std::size_t i, std::uint32_t position, std::uint32_t bits) const {
    store_one(position_at(i), position);
    store_one(value_at(i), bits);
  }
};

/// Adds values at positions, which differ; ignores those that are outside. The count is not believed: the size says it.
struct AddSparse {
  static constexpr int kGroup = 1;
  template <int kCount>
  struct Taken {
    std::uint32_t position;
    float value;
    float sum;
  };

  const std::byte* wire;
  std::size_t count;
  std::byte* floats;
  std::size_t elements;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t i) const {
    Taken<kCount> taken{load_one<std::uint32_t>(wire + 4 + 4 * i), load_one<float>(wire + 4 + 4 * (count + i)), 0};
    if (taken.position < elements) taken.sum = load_aligned<float>(floats + 4 * std::size_t{taken.position});
    return taken;
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t, const Taken<kCount>& taken) const {
    if (taken.position < elements) store_one(floats + 4 * std::size_t{taken.position}, taken.sum + taken.value);
  }
};

}  // namespace hbench::cuda
