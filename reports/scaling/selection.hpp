#pragma once

/// Selections of points, as pointers into the report's input.

#include <algorithm>
#include <iterator>
#include <vector>

#include "analysis/points/points.hpp"

namespace hbench {

using Pointers = std::vector<const Point*>;

/// Those that `keep(const Point*)` accepts, in their order.
template <class Keep>
Pointers filtered(const Pointers& points, Keep keep) {
  Pointers kept;
  std::ranges::copy_if(points, std::back_inserter(kept), keep);
  return kept;
}

/// \pre the point has an efficiency.
inline double efficiency_of(const Point* point) { return *point->efficiency; }

/// Measured or emulated: it took place, and has launches and iterations.
inline bool is_timed(const Point& point) {
  return point.asked.evidence == Evidence::measured || point.asked.evidence == Evidence::emulated;
}

}  // namespace hbench
