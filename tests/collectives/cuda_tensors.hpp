#pragma once

/// Tensors as models have them, for the tests of packing.

#include <cstddef>
#include <vector>

#include "tests/collectives/cuda_data.hpp"

namespace hbench::support {

/// Bytes, and how far from an aligned address: 161 as of ResNet-50, from a bias to a layer of 2 M elements; empty ones;
/// some that bring the following ones out of step by floats, by halves and by single bytes.
struct TensorPlace {
  std::size_t bytes;
  std::size_t off;
};

inline std::vector<TensorPlace> tensor_places() {
  std::vector<TensorPlace> places;
  constexpr std::size_t kElements[] = {
      9408, 64, 64, 4096, 256, 36864, 16384, 1000, emulated_share(16, 589'824), emulated_share(16, 2'048'000)};
  for (std::size_t i = 0; i < 161; ++i) places.push_back({4 * kElements[i % 9 == 8 && i > 20 ? 2 : i % 9], 0});
  places.push_back({4 * kElements[9], 0});
  for (const TensorPlace place : {TensorPlace{0, 0},
                                  {40, 4},
                                  {65'532, 4},
                                  {32'768, 8},
                                  {100'002, 2},
                                  {50'000, 2},
                                  {1, 1},
                                  {70'001, 3},
                                  {16, 5},
                                  {0, 0},
                                  {20'000, 0}})
    places.push_back(place);
  return places;
}

}  // namespace hbench::support
