#include <algorithm>

#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

std::string configuration(const Point* point) { return point ? ScalingWords::in_brief(point->asked.strategy) : "-"; }

std::string efficiency_cell(const Point* point) { return point ? percent_cell(point->efficiency) : "-"; }

std::string who_is_ahead(const BestOfSides& sides) {
  if (!sides.both()) return "-";
  if (clearly_ahead(*sides.servers, *sides.all_reduce)) return "servers";
  return clearly_ahead(*sides.all_reduce, *sides.servers) ? "all-reduce" : "level";
}

std::vector<std::string> row_of(const BestOfSides& sides, const ScalingWords& words) {
  const Case& asked = sides.better().asked;
  return {words.workload(asked),
          words.network(asked.profile),
          std::to_string(asked.gpus),
          std::string(to_string(asked.evidence)),
          configuration(sides.all_reduce),
          efficiency_cell(sides.all_reduce),
          configuration(sides.servers),
          efficiency_cell(sides.servers),
          who_is_ahead(sides)};
}

}  // namespace

Blocks best_of_either_side(const Scaling& scaling) {
  constexpr std::size_t kUnfolded = 30;
  Table table{.caption = "All-reduce against parameter servers, each by its best configuration, on the most GPUs",
              .columns = {"workload", "network", "GPUs", "evidence", "best all-reduce", "efficiency", "best servers",
                          "efficiency of servers", "ahead"},
              .numeric = {false, false, true, false, false, true, false, true, false}};
  for (const Subject& subject : subjects_by_spread(scaling.input.points)) {
    const auto headline = find_headline(scaling.input.points, subject);
    if (!headline || headline->gpus() == 1) continue;
    for (const BestOfSides& sides : headline->networks) table.rows.push_back(row_of(sides, scaling.words));
  }
  if (table.rows.empty()) return {};
  table.folded = table.rows.size() > kUnfolded;
  return {std::move(table)};
}

}  // namespace hbench
