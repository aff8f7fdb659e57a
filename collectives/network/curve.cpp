#include "collectives/network/curve.hpp"

#include <algorithm>
#include <cmath>

namespace hbench {

Seconds MeasuredCurve::at(std::int64_t bytes) const {
  const auto above = std::ranges::lower_bound(points, bytes, {}, &Point::bytes);
  if (above->bytes == bytes) return above->time;
  const Point& below = *std::prev(above);
  const auto size = static_cast<double>(bytes);
  const double place = std::log(size / static_cast<double>(below.bytes)) /
                       std::log(static_cast<double>(above->bytes) / static_cast<double>(below.bytes));
  return below.time * std::pow(above->time / below.time, place);
}

MeasuredCurve MeasuredCurve::thinned() const {
  MeasuredCurve thin = *this;
  thin.points.clear();
  for (std::size_t i = 0; i < points.size(); ++i)
    if (i % 2 == 0 || i + 1 == points.size()) thin.points.push_back(points[i]);
  return thin;
}

}  // namespace hbench
