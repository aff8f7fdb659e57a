#pragma once

/// Random numbers that are the same on every platform and with every standard library, so that an
/// interval printed in a report can be computed again.
///
/// SplitMix64: Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

#include <cstddef>
#include <cstdint>

namespace hbench {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// 64 uniform bits.
  std::uint64_t next();
  /// Uniform in 0 .. n-1, for n in 1 .. 2^32 - 1 (to within n / 2^32).
  std::size_t below(std::size_t n);

 private:
  std::uint64_t state_;
};

}  // namespace hbench
