#include "collectives/compressors/signs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
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

void add_rows(const float* in, std::size_t rows, SignedSums& total) {
  LaneSums sums;
  const std::size_t width = hn::Lanes(hn::CappedTag<float, kLanes>());
  for (std::size_t column = 0; column < kLanes; column += width) add_columns(in, rows, column, sums);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    total.positive += static_cast<double>(sums.positive[lane]);
    total.negative += static_cast<double>(sums.negative[lane]);
    total.negatives += sums.negatives[lane];
  }
}

/// What float32 cannot hold; also of what is not finite.
SignedSums sums_of_large(std::span<const float> in) {
  SignedSums total;
  for (const float x : in) {
    const bool minus = std::signbit(x);
    (minus ? total.negative : total.positive) += static_cast<double>(x);
    total.negatives += minus ? 1 : 0;
  }
  return total;
}

SignedSums sums(std::span<const float> in) {
  SignedSums total;
  const std::size_t whole = in.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kPiece) add_rows(in.data() + i, std::min(kPiece, whole - i) / kLanes, total);
  std::array<float, kLanes> rest{};
  std::ranges::copy(in.subspan(whole), rest.begin());
  add_rows(rest.data(), 1, total);
  return std::isfinite(total.positive - total.negative) ? total : sums_of_large(in);
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
