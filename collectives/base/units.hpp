#pragma once

/// Quantities as types. Arithmetic that makes no physical sense does not compile.
///
/// Text forms are parsed and formatted in `units_text.hpp`, and nowhere else.

#include <chrono>
#include <compare>
#include <cstdint>

namespace hbench {

/// A rank's index in its world, from 0.
using Rank = int;

/// A number with a unit. `Tag` makes seconds and bytes different types.
template <class Tag>
struct Quantity {
  double value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(double v) : value(v) {}

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value + b.value); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value - b.value); }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity(a.value * k); }
  friend constexpr Quantity operator*(double k, Quantity a) { return Quantity(a.value * k); }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity(a.value / k); }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
};

using Seconds = Quantity<struct SecondsTag>;
using Bytes = Quantity<struct BytesTag>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;

/// The seconds that have passed since a moment.
inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

constexpr Seconds operator/(Bytes size, BytesPerSecond rate) { return Seconds(size.value / rate.value); }
constexpr BytesPerSecond operator/(Bytes size, Seconds time) { return BytesPerSecond(size.value / time.value); }
constexpr Bytes operator*(BytesPerSecond rate, Seconds time) { return Bytes(rate.value * time.value); }
/// Returns the seconds of a byte; 0 for a rate of 0, which stands for one that limits nothing.
constexpr double seconds_per_byte(BytesPerSecond rate) { return rate.value > 0 ? 1 / rate.value : 0; }

}  // namespace hbench
