#include <algorithm>

#include "reports/scaling/scaling.hpp"

namespace hbench {

Blocks measured_points(const Scaling& scaling) {
  Table table{.caption = "",
              .columns = {"workload", "where", numbers("ranks"), "nodes x ranks", "strategy", numbers("samples/s"),
                          numbers("per rank"), numbers("efficiency"), numbers("95 % interval"), "baseline",
                          numbers("iterations"), numbers("launches")},
              .grouped = true};
  for (const Point& point : scaling.input.points) {
    const Case& asked = point.asked;
    if (!is_timed(point) || point.failed) continue;
    table.rows.push_back({scaling.words.workload(asked), scaling.words.network(asked), std::to_string(asked.workers()),
                          or_dash(asked.nodes_label()), scaling.words.strategy(asked), rate_cell(point.throughput),
                          rate_cell(point.throughput_per_gpu), percent_cell(point.efficiency), interval_cell(point),
                          or_dash(point.baseline_or_reason()), std::to_string(point.iterations),
                          std::to_string(point.launches)});
  }
  if (table.rows.empty()) return {};
  std::ranges::stable_sort(table.rows, {}, [](const auto& row) { return row.front(); });
  erase_if_empty(table, "nodes x ranks");
  return {Heading{1, "Measured on this machine"}, std::move(table)};
}

}  // namespace hbench
