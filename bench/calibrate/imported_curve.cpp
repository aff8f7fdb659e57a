#include "bench/calibrate/imported_curve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectives/base/units_text.hpp"

namespace hbench {

std::size_t keep_sizes(ImportedCurve& imported, const std::map<std::int64_t, double>& times) {
  std::vector<std::string> disturbed;
  auto& points = imported.curve.points;
  for (const auto& [bytes, time] : times) {
    while (!points.empty() && time < kMostFall * points.back().time.value) {
      disturbed.push_back(exact_text(Bytes(static_cast<double>(points.back().bytes))));
      points.pop_back();
    }
    points.push_back({bytes, Seconds(time)});
  }
  if (!disturbed.empty())
    imported.notes.push_back(
        fmt::format("Left out, since a larger size took less time: {}.", fmt::join(disturbed, ", ")));
  return points.size();
}

}  // namespace hbench
