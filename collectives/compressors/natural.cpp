#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/payload.hpp"
#include "collectives/compressors/random.hpp"
#include "collectives/compressors/signs.hpp"

// This file is compiled once for each instruction set; the loops are plain, compilers make vectors of them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/compressors/natural.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hbench::HWY_NAMESPACE {
namespace {

constexpr int kMantissaBits = 23;
constexpr std::uint32_t kNotFinite = 255;

/// Adding a random mantissa carries into the exponent with a probability that is the mantissa's worth, so that the mean
/// is the element; subnormals become 0 or 2^-126 in the same way.
void exponents_of(std::span<const float> in, std::span<const std::uint32_t> random, std::byte* exponents) {
  constexpr std::uint32_t kLargestFinite = 254;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(in[i]) & 0x7fff'ffffu;
    const std::uint32_t rounded = (magnitude + (random[i] >> (32 - kMantissaBits))) >> kMantissaBits;
    const bool finite = magnitude < kNotFinite << kMantissaBits;
    exponents[i] = static_cast<std::byte>(finite ? std::min(rounded, kLargestFinite) : kNotFinite);
  }
}

template <bool kAdd>
void powers_of(const std::byte* exponents, std::span<const std::uint32_t> signs, std::span<float> out) {
  constexpr std::uint32_t kQuiet = 0x40'0000;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto exponent = static_cast<std::uint32_t>(exponents[i]);
    const std::uint32_t magnitude = exponent << kMantissaBits | (exponent == kNotFinite ? kQuiet : 0);
    const float value = std::bit_cast<float>(magnitude | signs[i]);
    out[i] = kAdd ? out[i] + value : value;
  }
}

void decode_part(const std::byte* exponents, std::span<const std::uint32_t> signs, TransferKind kind,
                 std::span<float> out) {
  const auto decode = kind == TransferKind::reduce ? powers_of<true> : powers_of<false>;
  decode(exponents, signs, out);
}

}  // namespace
}  // namespace hbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hbench {
namespace {

HWY_EXPORT(exponents_of);
HWY_EXPORT(decode_part);

/// What fits in the first cache, beside its random numbers. Whole bytes of signs.
constexpr std::size_t kPiece = 1024;

/// A byte of float32's biased exponent per element (0 is zero, 255 is NaN), then their signs.
class Natural final : public Codec {
 public:
  std::int64_t max_wire_bytes(std::int64_t elements) const override { return elements + sign_bytes(elements); }

  std::int64_t encode(std::span<const float> in, const Draw& draw, std::span<std::byte> out) const override {
    const RandomKey key = key_of(draw);
    std::array<std::uint32_t, kPiece> random;
    for (std::size_t i = 0; i < in.size(); i += kPiece) {
      const std::span part = in.subspan(i, std::min(kPiece, in.size() - i));
      random_bits(key, static_cast<std::int64_t>(i), std::span(random).first(part.size()));
      HWY_DYNAMIC_DISPATCH(exponents_of)(part, random, out.data() + i);
    }
    pack_signs(in, out.subspan(in.size()));
    return max_wire_bytes(std::ssize(in));
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    expect_size(in, max_wire_bytes(std::ssize(out)));
    std::array<std::uint32_t, kPiece> signs;
    for (std::size_t i = 0; i < out.size(); i += kPiece) {
      const std::span part = out.subspan(i, std::min(kPiece, out.size() - i));
      unpack_signs(in.subspan(out.size() + i / 8), std::span(signs).first(part.size()));
      HWY_DYNAMIC_DISPATCH(decode_part)(in.data() + i, signs, kind, part);
    }
  }
};

}  // namespace

extern constinit const Compressor kNatural{
    .name = "natural",
    .summary = "sign and exponent, 9 bits; rounded at random to one of the two powers of two around the element",
    .citation = "Horvath et al., Natural Compression for Distributed Deep Learning, MSML 2022",
    .unbiased = true,
    .memory_traffic = 1.29,
    .relative_error = 1,
    .relative_l2_error = 0.288,
    .not_finite = {.what = "NaN and infinities become NaN; finite elements stay below 2^128", .kept = false},
    .make = [](std::string_view) -> std::unique_ptr<Codec> { return std::make_unique<Natural>(); },
};

}  // namespace hbench
#endif
