#pragma once

/// What the tests of codecs on the host and on a GPU share.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "collectives/compressors/compressor.hpp"
#include "tests/collectives/cuda_data.hpp"

namespace hbench::support {

/// Blocks of 256 of different magnitudes, some all zero, tiny, huge, or with any bit patterns, NaN among them.
inline std::vector<float> hard_floats(std::size_t elements, std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  std::vector<float> floats(elements);
  for (std::size_t block = 0; block < elements; block += 256) {
    const auto kind = random() % 8;
    const float scale = kind == 0 ? 0 : kind == 1 ? 1e-37F : kind == 2 ? 1e37F : kind == 3 ? 1e-42F : 1.0F;
    for (std::size_t i = block; i < std::min(block + 256, elements); ++i)
      floats[i] = kind == 7 ? cuda::same_bits<float>(static_cast<std::uint32_t>(random())) : normal(random) * scale;
  }
  return floats;
}

/// Of a rank, in a step; positions pass 2^32, where the drawing of random numbers changes.
constexpr Draw kDraw{.seed = 7, .rank = 3, .step = 11, .offset = (std::int64_t{1} << 32) - 1000};

inline std::vector<std::byte> encoded(const CompressorChoice& choice, std::span<const float> floats) {
  std::vector<std::byte> wire(static_cast<std::size_t>(choice.codec->max_wire_bytes(std::ssize(floats))));
  EXPECT_EQ(choice.codec->encode(floats, kDraw, wire), std::ssize(wire));
  return wire;
}

/// Where the floats and their encoded form lie.
struct CodecPlaces {
  Placed floats;
  Placed wire;
};

/// Compressors that a GPU has, with the parameters that make a difference to it.
constexpr const char* kGpuCompressors[] = {"fp16", "bf16",   "int4",     "int8",    "minmax8",     "onebit",
                                           "qsgd", "qsgd:2", "qsgd:127", "randomk", "randomk:0.3", "randomk:1",
                                           "sign", "topk",   "topk:0.3", "topk:1"};

/// Calls `test(choice, elements, places)` for each codec that a GPU has, many sizes, and aligned and awkward addresses.
template <class Test>
void for_each_codec_and_place(Test test) {
  for (const char* name : kGpuCompressors) {
    const CompressorChoice choice = parse_compressor(name);
    const std::size_t many = emulated_share(2, 70'016);
    for (const std::size_t elements :
         {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{4}, std::size_t{255}, std::size_t{256},
          std::size_t{257}, std::size_t{1024}, std::size_t{4099}, std::size_t{8192}, many - 15, many})
      for (const auto& [floats_off, wire_off] : {std::pair(0, 0), {4, 0}, {4, 2}, {4, 1}, {8, 4}, {12, 7}}) {
        SCOPED_TRACE(std::string(name) + ", " + std::to_string(elements) + " elements, floats off by " +
                     std::to_string(floats_off) + ", bytes by " + std::to_string(wire_off));
        const auto wire = static_cast<std::size_t>(choice.codec->max_wire_bytes(static_cast<std::int64_t>(elements)));
        test(choice, elements,
             CodecPlaces{{static_cast<std::size_t>(floats_off), 4 * elements},
                         {static_cast<std::size_t>(wire_off), wire}});
      }
  }
}

}  // namespace hbench::support
