#include "reports/scaling/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "collectives/base/text.hpp"

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

using BlocksOf = Blocks (*)(const Scaling& scaling);

Document document_of(const ReportInput& input, std::initializer_list<BlocksOf> parts) {
  const Scaling scaling(input);
  Document document{.title = title_of(input.points)};
  for (const BlocksOf part : parts)
    for (Block& block : part(scaling)) document.blocks.push_back(std::move(block));
  return document;
}

Document build(const ReportInput& input) {
  return document_of(input, {scaling_verdict, warnings, scaling_charts, node_charts, failed_cases, best_of_either_side,
                             measured_comparison, emulated_comparison, published_comparison, step_ledger, method_costs,
                             measured_points, timed_alone, throttled_points, all_points, training_methods, method});
}

Document build_short(const ReportInput& input) {
  return document_of(input,
                     {scaling_verdict, warnings, best_of_either_side, measured_points, timed_alone, failed_cases});
}

}  // namespace

constinit const Report kScalingReport{.name = "scaling",
                                      .summary = "efficiency and throughput over GPUs, simulated against published",
                                      .build = build,
                                      .build_short = build_short};

}  // namespace hbench
