#pragma once

/// What is done with single elements, for every type and operation: bit for bit what the loops of `arithmetic/` and
/// `compressors/half` do on the host. Where a result is NaN, which NaN it is is the processor's choice, there as here.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/cuda/portable.cuh"

namespace hbench::cuda {

/// As hbench::Float16's: round to nearest even, overflow to infinity, subnormals and NaN kept.
struct Float16 {
  static HBENCH_ON_BOTH std::uint16_t narrowed(float x) {
    constexpr std::uint32_t kSmallestNormal = 0x3880'0000;  // 2^-14
    constexpr std::uint32_t kOverflow = 0x477f'f000;        // 65520: from here on the nearest is infinity
    constexpr std::uint32_t kRebias = 112u << 23;
    constexpr std::uint32_t kInfinity = 0x7f80'0000;
    const auto bits = same_bits<std::uint32_t>(x);
    const std::uint32_t magnitude = bits & 0x7fff'ffff;
    const std::uint32_t nan = ((bits >> 16) & 0x8000) | 0x7e00u | ((magnitude >> 13) & 0x3ff);
    if constexpr (kConvertsHalves) return magnitude > kInfinity ? static_cast<std::uint16_t>(nan) : convert_to_half(x);
    // A float's last digit at 0.5 is worth 2^-24, a half's smallest step: the addition rounds for us.
    const std::uint32_t subnormal = same_bits<std::uint32_t>(same_bits<float>(magnitude) + 0.5F) - 0x3f00'0000;
    const std::uint32_t normal = (magnitude - kRebias + 0xfff + ((magnitude >> 13) & 1)) >> 13;
    std::uint32_t half = magnitude >= kSmallestNormal ? normal : subnormal;
    half = magnitude >= kOverflow ? 0x7c00u : half;
    half |= (bits >> 16) & 0x8000;
    return static_cast<std::uint16_t>(magnitude > kInfinity ? nan : half);
  }

  static HBENCH_ON_BOTH float widened(std::uint16_t half) {
    if constexpr (kConvertsHalves) return convert_from_half(half);
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t magnitude = half & 0x7fffu;
    // Exact for normal and subnormal halves alike: what is missing is a factor of 2^(127 - 15).
    const auto scaled = same_bits<std::uint32_t>(same_bits<float>(magnitude << 13) * 0x1p112F);
    const std::uint32_t special = 0x7f80'0000u | magnitude << 13 | (magnitude > 0x7c00 ? 0x40'0000u : 0u);
    return same_bits<float>(sign | (magnitude >= 0x7c00 ? special : scaled));
  }
};

/// The upper half of a float32: round to nearest even, NaN kept.
struct Bfloat16 {
  static HBENCH_ON_BOTH std::uint16_t narrowed(float x) {
    const auto bits = same_bits<std::uint32_t>(x);
    const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return static_cast<std::uint16_t>((bits & 0x7fff'ffff) > 0x7f80'0000 ? bits >> 16 | 0x40 : rounded);
  }
  static HBENCH_ON_BOTH float widened(std::uint16_t half) {
    return same_bits<float>(static_cast<std::uint32_t>(half) << 16);
  }
};

/// An element that is combined as it is stored.
template <class T>
struct Plain {
  using Stored = T;
  using Value = T;
  static HBENCH_ON_BOTH T value(T stored) { return stored; }
  static HBENCH_ON_BOTH T stored(T value) { return value; }
};

/// An element of 16 bits that is combined in float32.
template <class Format>
struct Half {
  using Stored = std::uint16_t;
  using Value = float;
  static HBENCH_ON_BOTH float value(std::uint16_t stored) { return Format::widened(stored); }
  static HBENCH_ON_BOTH std::uint16_t stored(float value) { return Format::narrowed(value); }
};

/// Calls `f` with the element of `type`, an empty object.
template <class F>
void with_element(DataType type, F f) {
  switch (type) {
    case DataType::float32:
      return f(Plain<float>());
    case DataType::float64:
      return f(Plain<double>());
    case DataType::float16:
      return f(Half<Float16>());
    case DataType::bfloat16:
      return f(Half<Bfloat16>());
    case DataType::int32:
      return f(Plain<std::int32_t>());
    case DataType::int64:
      return f(Plain<std::int64_t>());
    case DataType::uint8:
      return f(Plain<std::uint8_t>());
  }
}

/// a (op) b; `average` is a sum that is divided later.
template <ReduceOp op, class T>
HBENCH_ON_BOTH T combined(T a, T b) {
  if constexpr (op == ReduceOp::min || op == ReduceOp::max) {
    const bool better = op == ReduceOp::min ? b < a : a < b;
    // A NaN in `a` compares as false, and stays.
    return better || b != b ? b : a;
  } else if constexpr (std::is_floating_point_v<T>) {
    return op == ReduceOp::product ? a * b : a + b;
  } else {
    // Integers wrap around, which signed arithmetic must not do.
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    return static_cast<T>(op == ReduceOp::product ? x * y : x + y);
  }
}

/// What values are divided by, and 1 / it, rounded.
struct Divisor {
  HBENCH_ON_BOTH explicit Divisor(int workers) : number(workers), inverse(1.0F / static_cast<float>(workers)) {}
  int number;
  float inverse;
};

/// value / divisor, correctly rounded, in four instructions where a division has a dozen and a slow path for warps with
/// extreme values (Markstein, Computation of Elementary Functions on the IBM RISC System/6000 Processor, IBM J. Res.
/// Dev. 34, 1990). The quotient is at most 2 units in its last place off; its rest is exact; the correction is off by
/// 2^-24 of itself, 2^-23 units; and a quotient by n lies at least 1 / 2n units from where rounding turns: n <= 2^20
/// may be divided by. Tiny values would lose the rest, huge ones overflow on the way.
HBENCH_ON_BOTH float quotient(float value, const Divisor& divisor) {
  constexpr std::uint32_t kLow = 27u << 23, kHigh = 253u << 23;  // 2^-100, 2^126
  constexpr int kLargest = 1 << 20;
  const std::uint32_t magnitude = same_bits<std::uint32_t>(value) & 0x7fff'ffff;
  if ((magnitude - kLow > kHigh - kLow && magnitude != 0) || divisor.number > kLargest)
    return value / static_cast<float>(divisor.number);
  const float near = value * divisor.inverse;
  const float rest = fmaf(-near, static_cast<float>(divisor.number), value);
  return rest == 0 ? near : fmaf(rest, divisor.inverse, near);  // -0 stays -0
}

/// \pre divisor >= 1
template <class T>
HBENCH_ON_BOTH T divided(T value, const Divisor& divisor) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    // Exact, and a division less for each byte: the factor is less than 1 above 2^16 / divisor, so what it adds to the
    // quotient, below 1 / 256, never reaches the next integer; with divisors beyond 256 the product stays below 2^16.
    const unsigned factor = 0x1'0000U / static_cast<unsigned>(divisor.number) + 1;
    return static_cast<T>(value * factor >> 16);
  } else if constexpr (std::is_same_v<T, float>) {
    return quotient(value, divisor);
  } else {
    return value / static_cast<T>(divisor.number);
  }
}

}  // namespace hbench::cuda
