#include "collectives/compressors/half.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace hbench {
namespace {

constexpr std::uint32_t kFloatInfinity = 0x7f80'0000;
/// 2^-14, the smallest normal half.
constexpr std::uint32_t kSmallestNormal = 0x3880'0000;
/// 65520, halfway between the largest half and the next step: from here on the nearest is infinity.
constexpr std::uint32_t kOverflow = 0x477f'f000;
/// The exponent biases' difference, 127 - 15, in a float's exponent field.
constexpr std::uint32_t kRebias = 112u << 23;

std::uint16_t narrowed(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 16) & 0x8000;
  const std::uint32_t magnitude = bits & 0x7fff'ffff;
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

float widened(std::uint16_t half) {
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

std::uint16_t load(std::span<const std::byte> halves, std::size_t i) {
  std::uint16_t half;
  std::memcpy(&half, halves.data() + 2 * i, sizeof half);
  return half;
}

void narrow(std::span<const float> floats, std::span<std::byte> halves) {
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const std::uint16_t half = narrowed(floats[i]);
    std::memcpy(halves.data() + 2 * i, &half, sizeof half);
  }
}

void widen(std::span<const std::byte> halves, std::span<float> floats) {
  for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = widened(load(halves, i));
}

void widen_and_add(std::span<const std::byte> halves, std::span<float> floats) {
  for (std::size_t i = 0; i < floats.size(); ++i) floats[i] += widened(load(halves, i));
}

}  // namespace

constinit const HalfConversion kPortableHalves{narrow, widen, widen_and_add};

}  // namespace hbench
