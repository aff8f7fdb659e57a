#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "reports/scaling/series.hpp"

namespace hbench {
namespace {

struct Part {
  const char* name;
  const char* column;
};
constexpr std::array kParts{Part{"compute", "compute"}, Part{"straggler", "stragglers"},
                            Part{"slowdown", "slowed compute"}, Part{"exposed", "exposed communication"}};

/// The last point of each curve that has a ledger and reaches the most GPUs of its subject.
std::vector<const Point*> last_points(const std::vector<Curve>& curves, bool shown_only) {
  std::vector<const Point*> points;
  int most = 0;
  for (const Curve& curve : curves) {
    const Point* last = curve.points.back();
    if (last->ledger.empty() || !(last->step_seconds > 0)) continue;
    most = std::max(most, last->asked.gpus);
    if (curve.series.shown || !shown_only) points.push_back(last);
  }
  std::erase_if(points, [&](const Point* point) { return point->asked.gpus < most; });
  return points;
}

Table empty_table(std::string caption) {
  Table table{.caption = std::move(caption),
              .columns = {"workload", "GPUs", "network", "strategy", "step, ms"},
              .numeric = {false, true, false, false, true}};
  for (const Part& part : kParts) {
    table.columns.emplace_back(part.column);
    table.numeric.push_back(true);
  }
  return table;
}

std::vector<std::string> row_of(const Point& point, const ScalingWords& words) {
  const Case& asked = point.asked;
  std::vector<std::string> row{words.workload(asked), std::to_string(asked.gpus), words.network_in_brief(asked.profile),
                               words.strategy(asked), fmt::format("{:.1f}", point.step_seconds * 1e3)};
  for (const Part& part : kParts) {
    const auto found = point.ledger.find(part.name);
    row.push_back(found == point.ledger.end() ? "-" : percent_cell(found->second / point.step_seconds));
  }
  return row;
}

void add_rows(Table& table, const std::vector<const Point*>& points, const ScalingWords& words) {
  for (const Point* point : points) table.rows.push_back(row_of(*point, words));
}

}  // namespace

Blocks step_ledger(const Scaling& scaling) {
  Table lead = empty_table("The lines of the first chart"), all = empty_table("All workloads, networks and strategies");
  for (const Subject& subject : subjects_by_spread(scaling.input.points)) {
    std::vector<Curve> curves = curves_of(scaling, subject);
    choose_shown(curves, scaling);
    if (lead.rows.empty()) add_rows(lead, last_points(curves, true), scaling.words);
    add_rows(all, last_points(curves, false), scaling.words);
  }
  if (all.rows.empty()) return {};
  Blocks blocks{Heading{1, "Where the time goes"},
                Paragraph{"Parts of a simulated step on the most GPUs, in per cent of it: undisturbed compute, waiting "
                          "for the slowest GPU, compute slowed by communication in flight, and communication that "
                          "was not hidden. They add up to 100 %."}};
  const bool all_in_lead = all.rows.size() == lead.rows.size();
  all.folded = !all_in_lead;
  if (!all_in_lead && !lead.rows.empty()) blocks.push_back(std::move(lead));
  blocks.push_back(std::move(all));
  return blocks;
}

}  // namespace hbench
