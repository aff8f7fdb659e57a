#pragma once

/// Rates in the one unit of tables of networks.

#include <fmt/format.h>

#include <string>

#include "analysis/prediction/search.hpp"

namespace hbench {

inline double in_gigabits(BytesPerSecond rate) { return rate.value * 8 / 1e9; }

/// Gbit/s with two digits or as a whole number: `0.45`, `3.2`, `38`, `410`; `0` where any network is fast enough.
inline std::string gigabits(BytesPerSecond rate) {
  if (rate <= kLeastRate) return "0";
  const double value = in_gigabits(rate);
  return value < 9.95 ? fmt::format("{:.2g}", value) : fmt::format("{:.0f}", value);
}

}  // namespace hbench
