#pragma once

#include <optional>

namespace hbench {

/// What all ranks together send, to ranks of their own node and to others: elements, or bytes.
struct Moved {
  double within = 0, between = 0;

  Moved& operator+=(const Moved& other) {
    within += other.within;
    between += other.between;
    return *this;
  }
  friend Moved operator*(const Moved& moved, double factor) { return {moved.within * factor, moved.between * factor}; }
};
/// Adds `factor` times `more` to a sum, which is not known where a part of it is not.
inline void add(std::optional<Moved>& sum, const std::optional<Moved>& more, double factor = 1) {
  if (sum && more)
    *sum += *more * factor;
  else
    sum.reset();
}

}  // namespace hbench
