#pragma once

/// How often to ask what nobody announces.

#include <algorithm>
#include <chrono>
#include <utility>

namespace hbench {

/// The time between two looks at messages or devices that ring no doorbell (MPI, GPUs). Every look interrupts the
/// compute thread, so the interval doubles while nothing happens. Used by one thread.
class PollingInterval {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  constexpr PollingInterval(Nanoseconds shortest, Nanoseconds longest)
      : shortest_(shortest), longest_(longest), next_(shortest) {}

  /// Something happened: more may follow at once.
  constexpr void reset() { next_ = shortest_; }
  /// How long to wait now.
  constexpr Nanoseconds next() { return std::exchange(next_, std::min(2 * next_, longest_)); }

 private:
  Nanoseconds shortest_, longest_, next_;
};

}  // namespace hbench
