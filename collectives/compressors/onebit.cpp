#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/payload.hpp"
#include "collectives/compressors/signs.hpp"

// This file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/compressors/onebit.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hbench::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// In place of the paper's columns, which a flat buffer does not have. Whole bytes of signs; fits in the first cache,
/// so that memory is read once; the two means are 3 % of the bits.
constexpr std::size_t kBlock = 2048;

template <bool kAdd>
void choose(const std::byte* signs, float plus, float minus, std::span<float> out) {
  // Masks are loaded as 8 bytes.
  std::array<std::uint8_t, kBlock / 8 + 8> padded{};
  std::memcpy(padded.data(), signs, (out.size() + 7) / 8);
  constexpr hn::ScalableTag<float> kFloats;
  const std::size_t lanes = hn::Lanes(kFloats);
  const auto all_plus = hn::Set(kFloats, plus), all_minus = hn::Set(kFloats, minus);
  std::size_t i = 0;
  // Where a vector's signs are whole bytes.
  for (; lanes % 8 == 0 && i + lanes <= out.size(); i += lanes) {
    const auto value = hn::IfThenElse(hn::LoadMaskBits(kFloats, padded.data() + i / 8), all_minus, all_plus);
    hn::StoreU(kAdd ? hn::Add(hn::LoadU(kFloats, out.data() + i), value) : value, kFloats, out.data() + i);
  }
  for (; i < out.size(); ++i) {
    const float value = (padded[i / 8] >> i % 8 & 1) != 0 ? minus : plus;
    out[i] = kAdd ? out[i] + value : value;
  }
}

void decode_block(const std::byte* signs, float plus, float minus, TransferKind kind, std::span<float> out) {
  const auto decode = kind == TransferKind::reduce ? choose<true> : choose<false>;
  decode(signs, plus, minus, out);
}

}  // namespace
}  // namespace hbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hbench {
namespace {

HWY_EXPORT(decode_block);

using HWY_NAMESPACE::kBlock;

float mean(double sum, std::int64_t count) {
  if (count == 0) return 0;
  // Which NaN comes out of arithmetic is the processor's choice; what is written is the same everywhere.
  const double mean = sum / static_cast<double>(count);
  return std::isnan(mean) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(mean);
}

/// For each block: the mean of the elements with a plus and of those with a minus as float32, then the signs.
class OneBit final : public Codec {
 public:
  std::int64_t max_wire_bytes(std::int64_t elements) const override {
    constexpr auto kElements = static_cast<std::int64_t>(kBlock);
    return (elements + kElements - 1) / kElements * static_cast<std::int64_t>(2 * sizeof(float)) + sign_bytes(elements);
  }

  std::int64_t encode(std::span<const float> in, const Draw&, std::span<std::byte> out) const override {
    for (std::size_t i = 0; i < in.size(); i += kBlock) {
      const std::span block = in.subspan(i, std::min(kBlock, in.size() - i));
      const SignedSums sums = signed_sums(block);
      put(mean(sums.positive, std::ssize(block) - sums.negatives), out);
      put(mean(sums.negative, sums.negatives), out);
      const auto bytes = static_cast<std::size_t>(sign_bytes(std::ssize(block)));
      pack_signs(block, out.first(bytes));
      out = out.subspan(bytes);
    }
    return max_wire_bytes(std::ssize(in));
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    expect_size(in, max_wire_bytes(std::ssize(out)));
    for (std::size_t i = 0; i < out.size(); i += kBlock) {
      const std::span block = out.subspan(i, std::min(kBlock, out.size() - i));
      const auto plus = take<float>(in);
      const auto minus = take<float>(in);
      HWY_DYNAMIC_DISPATCH(decode_block)(in.data(), plus, minus, kind, block);
      in = in.subspan(static_cast<std::size_t>(sign_bytes(std::ssize(block))));
    }
  }
};

}  // namespace

extern constinit const Compressor kOneBit{
    .name = "onebit",
    .summary = "signs, times the means of what is positive and of what is negative among every 2048 elements",
    .citation =
        "Seide, Fu, Droppo, Li and Yu, 1-Bit Stochastic Gradient Descent and its Application to Data-Parallel "
        "Distributed Training of Speech DNNs, Interspeech 2014 (with ef:)",
    .exchange = Exchange::gather,
    .memory_traffic = 1.03,
    .relative_error = -1,
    .relative_l2_error = 0.602,
    .not_finite = {.what = "elements of the same sign in its block of 2048 become NaN, or infinite",
                   .kept = false,
                   .block = 2048},
    .make = [](std::string_view) -> std::unique_ptr<Codec> { return std::make_unique<OneBit>(); },
};

}  // namespace hbench
#endif
