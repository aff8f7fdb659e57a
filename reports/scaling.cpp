#include "reports/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hbench {
namespace {

std::string title_of(const std::vector<Point>& points) {
  const std::string title = "Scaling of data-parallel training";
  if (points.empty()) return title;
  const auto [fewest, most] =
      std::ranges::minmax_element(points, {}, [](const Point& point) { return point.asked.gpus; });
  const std::string last = counted(static_cast<std::size_t>(most->asked.gpus), "GPU");
  if (fewest->asked.gpus == most->asked.gpus) return fmt::format("{} on {}", title, last);
  return fmt::format("{} on {} to {}", title, fewest->asked.gpus, last);
}

Document build(const ReportInput& input) {
  const Scaling scaling(input);
  Document document{.title = title_of(input.points), .blocks = {}};
  for (auto part : {scaling_verdict, failed_cases, scaling_charts, measured_comparison, published_comparison,
                    step_ledger, measured_points, throttled_points, all_points, method})
    for (Block& block : part(scaling)) document.blocks.push_back(std::move(block));
  return document;
}

}  // namespace

constinit const Report kScalingReport{"scaling", "efficiency and throughput over GPUs, simulated against published",
                                      build};

}  // namespace hbench
