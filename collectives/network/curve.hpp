#pragma once

/// A collective that was measured on a cluster over message sizes. A value; pure.
///
/// One figure of a cluster's profile, and where it comes from.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "collectives/base/units.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// See the top of the file.
struct MeasuredCurve {
  struct Point {
    std::int64_t bytes = 0;  ///< of the whole buffer, as nccl-tests counts
    Seconds time;
  };

  CollectiveKind collective = CollectiveKind::all_reduce;
  std::string algorithm;  ///< canonical text; `vendor` for what a library chose itself
  int ranks = 0;
  int nodes = 0;
  std::string source;
  std::vector<Point> points;  ///< at least two, sizes ascend

  /// Whether it was measured at this size or between its sizes.
  bool holds(std::int64_t bytes) const { return bytes >= points.front().bytes && bytes <= points.back().bytes; }
  /// The measured size that is nearest.
  std::int64_t nearest_end(std::int64_t bytes) const {
    return bytes < points.front().bytes ? points.front().bytes : points.back().bytes;
  }
  /// Between measured sizes the logarithm of time is linear in that of size. \pre `holds(bytes)`.
  Seconds at(std::int64_t bytes) const {
    const auto above = std::ranges::lower_bound(points, bytes, {}, &Point::bytes);
    if (above->bytes == bytes) return above->time;
    const Point& below = *std::prev(above);
    const auto size = static_cast<double>(bytes);
    const double place = std::log(size / static_cast<double>(below.bytes)) /
                         std::log(static_cast<double>(above->bytes) / static_cast<double>(below.bytes));
    return below.time * std::pow(above->time / below.time, place);
  }
  /// With every second size only, the first and the last kept: what interpolation is judged by.
  MeasuredCurve thinned() const {
    MeasuredCurve thin = *this;
    thin.points.clear();
    for (std::size_t i = 0; i < points.size(); ++i)
      if (i % 2 == 0 || i + 1 == points.size()) thin.points.push_back(points[i]);
    return thin;
  }
};

/// A larger buffer cannot take less than this share of a smaller one's time: what is below was disturbed, or is no
/// curve of one collective.
inline constexpr double kMostFall = 0.8;

/// By which factor a figure that is only assumed may be off, where its profile does not say by which.
inline constexpr double kAssumedFactor = 2;

/// One figure of a profile with its provenance.
struct Figure {
  std::string key;     ///< `network.line_rate`; of the GPU's file `gpu.memory_rate`
  std::string text;    ///< as written: `25 Gbit/s`
  std::string source;  ///< who says so; `stated in <file>` for a figure without one
  /// The factor by which a figure that nobody states, and that is assumed, may be higher or lower. 1: it is stated.
  double assumed = 1;
  std::string place;  ///< where it is written, `my.toml:12`; empty for a figure that was not read
};

}  // namespace hbench
