#include <fmt/format.h>

#include <algorithm>

#include "reports/scaling/scaling.hpp"

namespace hbench {

std::size_t failures_of(const Scaling& scaling) {
  return static_cast<std::size_t>(std::ranges::count_if(scaling.input.points, &Point::failed));
}

std::string failures_sentence(const Scaling& scaling) {
  const std::size_t failed = failures_of(scaling), all = scaling.input.points.size();
  if (failed == 0 || failed == all) return "";
  return fmt::format("{} of {} cases failed; the reasons are below", failed, all);
}

Blocks failed_cases(const Scaling& scaling) {
  constexpr std::size_t kUnfolded = 10;
  Table table{.caption = "Failed cases",
              .columns = {"workload", "evidence", "network", numbers("GPUs"), "strategy", "reason"}};
  for (const Point& point : scaling.input.points) {
    if (!point.failed) continue;
    const Case& asked = point.asked;
    table.rows.push_back({scaling.words.workload(asked), std::string(to_string(asked.evidence)),
                          scaling.words.network(asked), std::to_string(asked.gpus), scaling.words.strategy(asked),
                          point.failure.empty() ? "no reason given" : point.failure});
  }
  if (table.rows.empty()) return {};
  table.folded = table.rows.size() > kUnfolded;
  return {table};
}

}  // namespace hbench
