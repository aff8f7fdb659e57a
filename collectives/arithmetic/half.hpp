#pragma once

/// Conversion between float32 and the two 16-bit floating-point formats. Vectorised, chosen at run time for the
/// processor; the bits are the same on every one.
///
/// - float16, IEEE 754 binary16: round to nearest even, overflow to infinity, subnormals kept, NaN kept (quieted, upper
///   payload bits), as x86's F16C does it.
/// - bfloat16, the upper half of a float32: round to nearest even, subnormals kept, NaN kept (quieted, upper payload
///   bits).

#include <cstddef>
#include <span>

namespace hbench {

/// One format. Halves are two bytes each, in the machine's byte order, at any address;
/// `halves.size() == 2 * floats.size()`. The ranges do not overlap.
struct HalfConversion {
  void (*narrow)(std::span<const float> floats, std::span<std::byte> halves);
  void (*widen)(std::span<const std::byte> halves, std::span<float> floats);
  void (*widen_and_add)(std::span<const std::byte> halves, std::span<float> floats);
};

const HalfConversion& float16_conversion();
const HalfConversion& bfloat16_conversion();

}  // namespace hbench
