#include "analysis/fit/framework_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hbench {
namespace {

CaseResult row_of(const Point& point, const std::string& profile) {
  CaseResult row{.asked = point.asked};
  row.asked.profile = profile;
  row.asked.machine.clear();
  row.origin =
      fmt::format("run {}, {} on {} ranks", point.producer.run, point.asked.strategy_label(), point.asked.gpus);
  row.samples = {{.metric = "throughput", .value = point.throughput, .unit = "samples/s"},
                 {.metric = "baseline_throughput",
                  .value = point.throughput / (*point.efficiency * point.asked.gpus),
                  .unit = "samples/s"}};
  return row;
}

}  // namespace

FrameworkRows framework_rows(const std::vector<CaseResult>& results, const std::vector<CaseResult>& baselines,
                             const std::string& profile) {
  std::vector<Point> measured = make_points(results, baselines);
  std::erase_if(measured, [](const Point& point) {
    return !point.asked.is_of_machine() || !point.asked.strategy.of_framework();
  });
  FrameworkRows found;
  if (measured.empty()) return found;
  const Point& last = *std::ranges::max_element(measured, {}, [](const Point& point) { return point.producer.run; });
  for (const Point& point : measured) {
    const bool is_row = !point.failed && point.efficiency && point.asked.gpus > 1 &&
                        point.asked.machine == last.asked.machine && !point.asked.strategy.uses_servers();
    if (is_row)
      found.rows.push_back(row_of(point, profile));
    else
      ++found.others;
  }
  return found;
}

}  // namespace hbench
