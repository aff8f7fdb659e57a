#include "collectives/compressors/signs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

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

using sign_sums::kLanes;

struct LaneSums {
  std::array<float, kLanes> positive, negative;
  std::array<std::int32_t, kLanes> negatives;
};

/// Adds up one vector's width of columns, from `column` on, of rows of `kLanes` elements.
void add_columns(const float* in, std::size_t rows, std::size_t column, LaneSums& sums) {
  constexpr hn::CappedTag<float, kLanes> kFloats;
  constexpr hn::RebindToSigned<decltype(kFloats)> kIntegers;
  auto positive = hn::Zero(kFloats);
  auto negative = hn::Zero(kFloats);
  auto negatives = hn::Zero(kIntegers);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto x = hn::LoadU(kFloats, in + row * kLanes + column);
    const auto minus = hn::BroadcastSignBit(hn::BitCast(kIntegers, x));  // all bits, or none
    positive = hn::Add(positive, hn::AndNot(hn::BitCast(kFloats, minus), x));
    negative = hn::Add(negative, hn::And(hn::BitCast(kFloats, minus), x));
    negatives = hn::Sub(negatives, minus);
  }
  hn::StoreU(positive, kFloats, sums.positive.data() + column);
  hn::StoreU(negative, kFloats, sums.negative.data() + column);
  hn::StoreU(negatives, kIntegers, sums.negatives.data() + column);
}

/// What float32 cannot hold; also of what is not finite.
double sum_of_large(const float* in, std::size_t rows, bool minus) {
  double sum = 0;
  for (std::size_t row = 0; row < rows; ++row, in += kLanes)
    if (std::signbit(*in) == minus) sum += static_cast<double>(*in);
  return sum;
}

SignedSums sums_of_rows(const float* in, std::size_t rows) {
  LaneSums sums;
  const std::size_t width = hn::Lanes(hn::CappedTag<float, kLanes>());
  for (std::size_t column = 0; column < kLanes; column += width) add_columns(in, rows, column, sums);
  const auto wide = [&](float sum, std::size_t lane, bool minus) {
    return std::isfinite(sum) ? static_cast<double>(sum) : sum_of_large(in + lane, rows, minus);
  };
  SignedSums total;
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    total += {wide(sums.positive[lane], lane, false), wide(sums.negative[lane], lane, true), sums.negatives[lane]};
  return total;
}

SignedSums sums_of_rest(std::span<const float> rest) {
  std::array<float, kLanes> row{};
  std::ranges::copy(rest, row.begin());
  return sums_of_rows(row.data(), 1);
}

SignedSums sums(std::span<const float> in) {
  using namespace sign_sums;  // NOLINT(google-build-using-namespace)
  const std::size_t whole = in.size() / kLanes * kLanes;
  const SignedSums rest = sums_of_rest(in.subspan(whole));
  // One piece and the rest: many blocks are so small, and need no adders.
  if (whole <= kPiece) return sums_of_rows(in.data(), whole / kLanes) += rest;
  std::array<SignedSums, kAdders> adders{};
  std::size_t pieces = 0;
  for (std::size_t i = 0; i < whole; i += kPiece)
    adders[pieces++ % kAdders] += sums_of_rows(in.data() + i, std::min(kPiece, whole - i) / kLanes);
  adders[pieces % kAdders] += rest;
  for (std::size_t half = kAdders / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) adders[i] += adders[i + half];
  return adders[0];
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
