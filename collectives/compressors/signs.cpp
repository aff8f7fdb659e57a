#include "collectives/compressors/signs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

// This file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/compressors/signs.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hbench::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void pack_few(const float* in, std::size_t count, std::byte* signs) {
  for (std::size_t i = 0; i < count; i += 8) {
    std::uint32_t packed = 0;
    for (std::size_t bit = 0; bit < std::min<std::size_t>(8, count - i); ++bit)
      packed |= std::bit_cast<std::uint32_t>(in[i + bit]) >> 31 << bit;
    signs[i / 8] = static_cast<std::byte>(packed);
  }
}

void pack(std::span<const float> in, std::byte* signs) {
  std::size_t i = 0;
  constexpr hn::ScalableTag<float> kFloats;
  constexpr hn::RebindToSigned<decltype(kFloats)> kIntegers;
  const std::size_t lanes = hn::Lanes(kFloats);
  // Where a vector's signs are whole bytes.
  for (; lanes % 8 == 0 && i + lanes <= in.size(); i += lanes) {
    const auto bits = hn::BitCast(kIntegers, hn::LoadU(kFloats, in.data() + i));
    hn::StoreMaskBits(kIntegers, hn::Lt(bits, hn::Zero(kIntegers)), reinterpret_cast<std::uint8_t*>(signs + i / 8));
  }
  pack_few(in.data() + i, in.size() - i, signs + i / 8);
}

void unpack(const std::byte* signs, std::span<std::uint32_t> out) {
  const std::size_t whole = out.size() / 8;
  for (std::size_t i = 0; i < whole; ++i) {
    const auto packed = static_cast<std::uint32_t>(signs[i]);
    for (std::size_t bit = 0; bit < 8; ++bit) out[8 * i + bit] = packed << (31 - bit) & 0x8000'0000u;
  }
  for (std::size_t i = 8 * whole; i < out.size(); ++i)
    out[i] = static_cast<std::uint32_t>(signs[i / 8]) << (31 - i % 8) & 0x8000'0000u;
}

/// As many partial sums as the widest vector has elements; so few elements that float32 adds them well.
constexpr std::size_t kLanes = 16;
constexpr std::size_t kPiece = 4096;

SignedSums sums_of_piece(const float* in, std::size_t count) {
  std::array<float, kLanes> positive{};
  std::array<float, kLanes> negative{};
  std::array<std::uint32_t, kLanes> negatives{};
  const auto add = [&](std::size_t lane, float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t minus = 0 - (bits >> 31);
    positive[lane] += std::bit_cast<float>(bits & ~minus);
    negative[lane] += std::bit_cast<float>(bits & minus);
    negatives[lane] -= minus;
  };
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) add(lane, in[i + lane]);
  for (; i < count; ++i) add(i % kLanes, in[i]);
  SignedSums sums;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sums.positive += static_cast<double>(positive[lane]);
    sums.negative += static_cast<double>(negative[lane]);
    sums.negatives += negatives[lane];
  }
  return sums;
}

SignedSums sums(std::span<const float> in) {
  SignedSums total;
  for (std::size_t i = 0; i < in.size(); i += kPiece) {
    const SignedSums piece = sums_of_piece(in.data() + i, std::min(kPiece, in.size() - i));
    total.positive += piece.positive;
    total.negative += piece.negative;
    total.negatives += piece.negatives;
  }
  return total;
}

}  // namespace
}  // namespace hbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hbench {

HWY_EXPORT(pack);
HWY_EXPORT(unpack);
HWY_EXPORT(sums);

void pack_signs(std::span<const float> in, std::span<std::byte> signs) { HWY_DYNAMIC_DISPATCH(pack)(in, signs.data()); }

void unpack_signs(std::span<const std::byte> signs, std::span<std::uint32_t> out) {
  HWY_DYNAMIC_DISPATCH(unpack)(signs.data(), out);
}

SignedSums signed_sums(std::span<const float> in) { return HWY_DYNAMIC_DISPATCH(sums)(in); }

}  // namespace hbench
#endif
