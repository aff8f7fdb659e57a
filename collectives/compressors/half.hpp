#pragma once

/// Conversion between float32 and IEEE 754 binary16: round to nearest even, overflow to infinity, subnormals
/// kept, NaN kept (quieted, upper payload bits), as the F16C instructions do it.

#include <cstddef>
#include <span>

namespace hbench {

/// One implementation. Halves are two bytes each, in the machine's byte order, at any address;
/// `halves.size() == 2 * floats.size()`.
struct HalfConversion {
  void (*narrow)(std::span<const float> floats, std::span<std::byte> halves);
  void (*widen)(std::span<const std::byte> halves, std::span<float> floats);
  void (*widen_and_add)(std::span<const std::byte> halves, std::span<float> floats);
};

/// Plain C++, on every machine.
extern const HalfConversion kPortableHalves;

/// The same results by the processor's own instructions; null where it has none.
const HalfConversion* fast_halves();

}  // namespace hbench
