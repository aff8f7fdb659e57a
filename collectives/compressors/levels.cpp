#include "collectives/compressors/levels.hpp"

#include <array>

// This file is compiled once for each instruction set; the loops are plain, compilers make vectors of them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/compressors/levels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hbench::HWY_NAMESPACE {
namespace {

std::uint32_t largest(std::span<const float> in) {
  std::uint32_t found = 0;
  for (const float x : in) found = std::max(found, std::bit_cast<std::uint32_t>(x) & 0x7fff'ffffu);
  return found;
}

/// Codes are levels counted from the lowest one. Truncation is rounding down, since nothing is negative.
void round_at_random(std::span<const float> in, float factor, int levels, std::span<const std::uint32_t> random,
                     std::uint8_t* codes) {
  const std::int32_t most = 2 * levels;
  const auto lowest = static_cast<float>(levels);
  for (std::size_t i = 0; i < in.size(); ++i) {
    // 16 bits, and half a step so that their mean is 1/2: with them the sum has no more than float32's 24.
    const float chance = (static_cast<float>(static_cast<std::int32_t>(random[i] >> 16)) + 0.5F) * 0x1p-16F;
    const auto code = static_cast<std::int32_t>(in[i] * factor + (lowest + chance));
    codes[i] = static_cast<std::uint8_t>(std::clamp(code, 0, most));
  }
}

template <int kBits>
void pack(const std::uint8_t* codes, std::span<std::byte> out) {
  constexpr std::size_t kPerByte = 8 / kBits;
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint32_t packed = 0;
    for (std::size_t part = 0; part < kPerByte; ++part)
      packed |= static_cast<std::uint32_t>(codes[kPerByte * i + part]) << (kBits * part);
    out[i] = static_cast<std::byte>(packed);
  }
}

template <int kBits>
void unpack(const std::byte* in, std::size_t bytes, std::uint8_t* codes) {
  constexpr std::size_t kPerByte = 8 / kBits;
  constexpr std::uint32_t kMask = (1u << kBits) - 1;
  for (std::size_t i = 0; i < bytes; ++i)
    for (std::size_t part = 0; part < kPerByte; ++part)
      codes[kPerByte * i + part] =
          static_cast<std::uint8_t>(static_cast<std::uint32_t>(in[i]) >> (kBits * part) & kMask);
}

template <bool kAdd>
void scale_codes(const std::uint8_t* codes, float step, int levels, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float value = static_cast<float>(static_cast<std::int32_t>(codes[i]) - levels) * step;
    out[i] = kAdd ? out[i] + value : value;
  }
}

/// `codes` has room for whole bytes of `out`, and zeros where there are no elements.
void encode(std::span<const float> in, float factor, int levels, std::span<const std::uint32_t> random,
            std::uint8_t* codes, std::span<std::byte> out) {
  round_at_random(in, factor, levels, random, codes);
  const int bits = level_bits(levels);
  (bits == 2 ? pack<2> : bits == 4 ? pack<4> : pack<8>)(codes, out);
}

void decode(std::span<const std::byte> in, float step, int levels, TransferKind kind, std::uint8_t* codes,
            std::span<float> out) {
  const int bits = level_bits(levels);
  // Codes of 0 would be the lowest level.
  if (step == 0) {
    if (kind == TransferKind::copy) std::ranges::fill(out, 0.0F);
    return;
  }
  (bits == 2 ? unpack<2> : bits == 4 ? unpack<4> : unpack<8>)(in.data(), in.size(), codes);
  (kind == TransferKind::reduce ? scale_codes<true> : scale_codes<false>)(codes, step, levels, out);
}

}  // namespace
}  // namespace hbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hbench {
namespace {

HWY_EXPORT(largest);
HWY_EXPORT(encode);
HWY_EXPORT(decode);

/// What fits in the first cache, beside its random numbers. Whole bytes of codes.
constexpr std::size_t kPiece = 1024;

std::size_t bytes_of(std::size_t elements, int levels) {
  return static_cast<std::size_t>(level_bytes(static_cast<std::int64_t>(elements), levels));
}

}  // namespace

float level_scale(std::span<const float> in) {
  constexpr std::uint32_t kInfinity = 0x7f80'0000;
  const std::uint32_t magnitude = HWY_DYNAMIC_DISPATCH(largest)(in);
  if (magnitude >= kInfinity) return std::numeric_limits<float>::quiet_NaN();
  const float scale = std::bit_cast<float>(magnitude);
  return scale < 0x1p-118F ? 0 : scale;
}

void encode_levels(std::span<const float> in, float scale, int levels, const RandomKey& key, std::int64_t first,
                   std::span<std::byte> out) {
  if (!(scale > 0)) {
    std::ranges::fill(out, std::byte{});
    return;
  }
  std::array<std::uint32_t, kPiece> random;
  std::array<std::uint8_t, kPiece> codes{};
  const float factor = static_cast<float>(levels) / scale;
  for (std::size_t i = 0; i < in.size(); i += kPiece) {
    const std::span part = in.subspan(i, std::min(kPiece, in.size() - i));
    random_bits(key, first + static_cast<std::int64_t>(i), std::span(random).first(part.size()));
    if (part.size() < kPiece) codes.fill(0);
    HWY_DYNAMIC_DISPATCH(encode)
    (part, factor, levels, random, codes.data(), out.subspan(bytes_of(i, levels), bytes_of(part.size(), levels)));
  }
}

void decode_levels(std::span<const std::byte> in, float scale, int levels, TransferKind kind, std::span<float> out) {
  std::array<std::uint8_t, kPiece> codes;
  for (std::size_t i = 0; i < out.size(); i += kPiece) {
    const std::span part = out.subspan(i, std::min(kPiece, out.size() - i));
    HWY_DYNAMIC_DISPATCH(decode)
    (in.subspan(bytes_of(i, levels), bytes_of(part.size(), levels)), scale / static_cast<float>(levels), levels, kind,
     codes.data(), part);
  }
}

}  // namespace hbench
#endif
