#include "collectives/arithmetic/half.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

// This file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/arithmetic/half.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hbench::HWY_NAMESPACE {
namespace {

constexpr std::uint32_t kMagnitude = 0x7fff'ffff;
constexpr std::uint32_t kFloatInfinity = 0x7f80'0000;

struct Float16 {
  /// 2^-14, the smallest normal half.
  static constexpr std::uint32_t kSmallestNormal = 0x3880'0000;
  /// 65520, halfway between the largest half and the next step: from here on the nearest is infinity.
  static constexpr std::uint32_t kOverflow = 0x477f'f000;
  /// The exponent biases' difference, 127 - 15, in a float's exponent field.
  static constexpr std::uint32_t kRebias = 112u << 23;

  static std::uint16_t narrowed(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = (bits >> 16) & 0x8000;
    const std::uint32_t magnitude = bits & kMagnitude;
    std::uint32_t half = 0;
    if (magnitude > kFloatInfinity) {
      half = 0x7e00 | ((magnitude >> 13) & 0x3ff);
    } else if (magnitude >= kOverflow) {
      half = 0x7c00;
    } else if (magnitude >= kSmallestNormal) {
      const std::uint32_t odd = (magnitude >> 13) & 1;
      half = (magnitude - kRebias + 0xfff + odd) >> 13;
    } else {
      // A float's last digit at 0.5 is worth 2^-24, a half's smallest step: the addition rounds for us.
      half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
    }
    return static_cast<std::uint16_t>(sign | half);
  }

  static float widened(std::uint16_t half) {
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t magnitude = half & 0x7fffu;
    std::uint32_t bits = 0;
    if (magnitude > 0x7c00) {
      bits = kFloatInfinity | 0x40'0000 | (magnitude & 0x3ff) << 13;
    } else if (magnitude == 0x7c00) {
      bits = kFloatInfinity;
    } else if (magnitude >= 0x0400) {
      bits = (magnitude << 13) + kRebias;
    } else {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24F);
    }
    return std::bit_cast<float>(sign | bits);
  }
};

/// Without branches: compilers make vectors of it.
struct Bfloat16 {
  static std::uint16_t narrowed(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return static_cast<std::uint16_t>((bits & kMagnitude) > kFloatInfinity ? bits >> 16 | 0x40 : rounded);
  }
  static float widened(std::uint16_t half) { return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16); }
};

template <class Format>
void narrow(std::span<const float> floats, std::span<std::byte> halves) {
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const std::uint16_t half = Format::narrowed(floats[i]);
    std::memcpy(halves.data() + 2 * i, &half, sizeof half);
  }
}

template <class Format>
float at(std::span<const std::byte> halves, std::size_t i) {
  std::uint16_t half;
  std::memcpy(&half, halves.data() + 2 * i, sizeof half);
  return Format::widened(half);
}

template <class Format>
void widen(std::span<const std::byte> halves, std::span<float> floats) {
  for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = at<Format>(halves, i);
}

template <class Format>
void widen_and_add(std::span<const std::byte> halves, std::span<float> floats) {
  for (std::size_t i = 0; i < floats.size(); ++i) floats[i] += at<Format>(halves, i);
}

// x86 converts float16 by itself, from F16C on. Elsewhere Highway's conversion truncates, and the plain loops serve.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

namespace hn = hwy::HWY_NAMESPACE;
constexpr hn::ScalableTag<float> kFloats;
constexpr hn::Rebind<hwy::float16_t, decltype(kFloats)> kHalves;
/// The halves' bytes, which may lie at any address.
constexpr hn::Repartition<std::uint8_t, decltype(kHalves)> kBytes;
constexpr std::size_t kLanes = hn::MaxLanes(kFloats);

auto load(std::span<const std::byte> halves, std::size_t i) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(halves.data() + 2 * i);
  return hn::PromoteTo(kFloats, hn::BitCast(kHalves, hn::LoadU(kBytes, bytes)));
}

template <>
void narrow<Float16>(std::span<const float> floats, std::span<std::byte> halves) {
  std::size_t i = 0;
  for (; i + kLanes <= floats.size(); i += kLanes) {
    const auto half = hn::DemoteTo(kHalves, hn::LoadU(kFloats, floats.data() + i));
    hn::StoreU(hn::BitCast(kBytes, half), kBytes, reinterpret_cast<std::uint8_t*>(halves.data() + 2 * i));
  }
  for (; i < floats.size(); ++i) {
    const std::uint16_t half = Float16::narrowed(floats[i]);
    std::memcpy(halves.data() + 2 * i, &half, sizeof half);
  }
}

template <>
void widen<Float16>(std::span<const std::byte> halves, std::span<float> floats) {
  std::size_t i = 0;
  for (; i + kLanes <= floats.size(); i += kLanes) hn::StoreU(load(halves, i), kFloats, floats.data() + i);
  for (; i < floats.size(); ++i) floats[i] = at<Float16>(halves, i);
}

template <>
void widen_and_add<Float16>(std::span<const std::byte> halves, std::span<float> floats) {
  std::size_t i = 0;
  for (; i + kLanes <= floats.size(); i += kLanes) {
    const auto sum = hn::Add(hn::LoadU(kFloats, floats.data() + i), load(halves, i));
    hn::StoreU(sum, kFloats, floats.data() + i);
  }
  for (; i < floats.size(); ++i) floats[i] += at<Float16>(halves, i);
}

#endif

constexpr HalfConversion kFloat16{narrow<Float16>, widen<Float16>, widen_and_add<Float16>};
constexpr HalfConversion kBfloat16{narrow<Bfloat16>, widen<Bfloat16>, widen_and_add<Bfloat16>};

const HalfConversion* float16() { return &kFloat16; }
const HalfConversion* bfloat16() { return &kBfloat16; }

}  // namespace
}  // namespace hbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hbench {

HWY_EXPORT(float16);
HWY_EXPORT(bfloat16);

const HalfConversion& float16_conversion() { return *HWY_DYNAMIC_DISPATCH(float16)(); }

const HalfConversion& bfloat16_conversion() { return *HWY_DYNAMIC_DISPATCH(bfloat16)(); }

}  // namespace hbench
#endif
