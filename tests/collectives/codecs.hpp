#pragma once

/// What the tests of compressors share.

#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "collectives/compressors/compressor.hpp"

namespace hbench::support {

/// Every entry with its defaults, and with other parameters where those lead elsewhere in the code.
inline std::vector<CompressorChoice> every_compressor() {
  std::vector<CompressorChoice> all;
  for (const Compressor* compressor : compressors()) all.push_back(parse_compressor(compressor->name));
  for (const char* text : {"qsgd:2", "qsgd:127", "topk:0.5", "topk:1", "randomk:0.3", "threshold:1.5", "threshold:0",
                           "dgc:0.01:0.9:5", "powersgd:1"})
    all.push_back(parse_compressor(text));
  return all;
}

/// Exactly the bytes that `encode` wrote, so that sanitizers see every byte read beyond them.
inline std::vector<std::byte> encoded(const Codec& codec, std::span<const float> values, const Draw& draw = {}) {
  std::vector<std::byte> wire(static_cast<std::size_t>(codec.max_wire_bytes(std::ssize(values))));
  wire.resize(static_cast<std::size_t>(codec.encode(values, draw, wire)));
  wire.shrink_to_fit();
  return wire;
}

inline std::vector<float> decoded(const Codec& codec, std::span<const std::byte> wire, std::size_t elements) {
  std::vector<float> values(elements, -77.0F);
  codec.decode(wire, TransferKind::copy, values);
  return values;
}

inline std::vector<float> round_trip(const Codec& codec, std::span<const float> values, const Draw& draw = {}) {
  return decoded(codec, encoded(codec, values, draw), values.size());
}

inline std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

/// Normally distributed, as gradients are taken to be.
inline std::vector<float> gaussian(std::size_t count, unsigned seed = 5, float mean = 0, float deviation = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(mean, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

/// Bit patterns from all over the range, NaN and subnormals included.
inline std::vector<float> random_patterns(std::size_t count) {
  std::mt19937 random(7);
  std::vector<float> values(count);
  for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  return values;
}

inline double norm(std::span<const float> values) {
  double squares = 0;
  for (const float x : values) squares += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(squares);
}

/// Runs `check` once with each instruction set that the program has code for and this processor has.
inline void on_every_target(const std::function<void(const std::string&)>& check) {
  for (const std::int64_t target : {std::int64_t{HWY_AVX3}, std::int64_t{HWY_AVX2}, std::int64_t{HWY_STATIC_TARGET}}) {
    if (target != HWY_STATIC_TARGET && (hwy::SupportedTargets() & target) == 0) continue;
    hwy::GetChosenTarget().Update(target);
    check(hwy::TargetName(target));
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace hbench::support
