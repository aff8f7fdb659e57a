#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "reports/scaling/series.hpp"

namespace hbench {
namespace {

struct LedgerPart {
  const char* name;
  const char* column;
  bool always;  ///< also where it is 0 everywhere
};
constexpr std::array kParts{LedgerPart{"compute", "compute", true},
                            LedgerPart{"input", "input", false},
                            LedgerPart{"straggler", "stragglers", true},
                            LedgerPart{"slowdown", "slowed compute", true},
                            LedgerPart{"exposed", "exposed communication", true},
                            LedgerPart{"negotiation", "negotiation", false},
                            LedgerPart{"coding", "copies and coding", false},
                            LedgerPart{"optimizer", "optimizer", false},
                            LedgerPart{"unexplained", "unexplained", false}};
/// What `percent_cell` shows as more than nothing.
constexpr double kVisible = 0.0005;

double step_of(const Point& point) {
  double sum = 0;
  for (const auto& [name, seconds] : point.ledger) sum += seconds;
  return sum;
}

/// The last point of each curve that has a ledger and reaches the most GPUs of its subject and evidence.
std::vector<const Point*> last_points(const std::vector<Curve>& curves, bool shown_only) {
  std::vector<const Point*> points;
  std::map<Evidence, int> most;
  for (const Curve& curve : curves) {
    const Point* last = curve.points.back();
    if (!(step_of(*last) > 0) || !(last->step_seconds > 0)) continue;
    int& gpus = most[last->asked.evidence];
    gpus = std::max(gpus, last->asked.gpus);
    if (curve.series.shown || !shown_only) points.push_back(last);
  }
  std::erase_if(points, [&](const Point* point) { return point->asked.gpus < most[point->asked.evidence]; });
  return points;
}

/// Predictions by the key of what was measured.
using Predicted = std::multimap<std::string, const Point*>;

/// Each measured point is followed by what was simulated for nodes like this machine.
std::vector<const Point*> beside_predictions(const std::vector<const Point*>& points, const Predicted& predicted) {
  std::vector<const Point*> all;
  std::set<std::string> known;
  for (const Point* point : points) {
    const std::string key = point->asked.key();
    if (!known.insert(key).second) continue;
    all.push_back(point);
    for (auto [next, end] = predicted.equal_range(key); next != end; ++next) {
      known.insert(next->second->asked.key());
      all.push_back(next->second);
    }
  }
  return all;
}

/// Parts that are there in no row have no column.
std::vector<LedgerPart> parts_of(const std::vector<const Point*>& points) {
  std::vector<LedgerPart> parts;
  for (const LedgerPart& part : kParts) {
    const auto shows = [&](const Point* point) {
      const auto found = point->ledger.find(part.name);
      return found != point->ledger.end() && found->second >= kVisible * step_of(*point);
    };
    if (part.always || std::ranges::any_of(points, shows)) parts.push_back(part);
  }
  return parts;
}

std::vector<std::string> row_of(const Point& point, const std::vector<LedgerPart>& parts, const ScalingWords& words) {
  const Case& asked = point.asked;
  std::vector<std::string> row{words.workload(asked),
                               std::to_string(asked.gpus),
                               words.network_id(asked),
                               words.strategy(asked),
                               std::string(to_string(asked.evidence)),
                               fmt::format("{:.1f}", point.step_seconds * 1e3)};
  for (const LedgerPart& part : parts) {
    const auto found = point.ledger.find(part.name);
    row.push_back(found == point.ledger.end() ? "-" : percent_cell(found->second / step_of(point)));
  }
  return row;
}

Table table_of(std::string caption, const std::vector<const Point*>& points, const ScalingWords& words) {
  Table table{.caption = std::move(caption),
              .columns = {"workload", numbers("GPUs"), "network", "strategy", "evidence", numbers("step, ms")},
              .grouped = true};
  const std::vector<LedgerPart> parts = parts_of(points);
  for (const LedgerPart& part : parts) table.columns.push_back(numbers(part.column));
  for (const Point* point : points) table.rows.push_back(row_of(*point, parts, words));
  return table;
}

}  // namespace

Blocks step_ledger(const Scaling& scaling) {
  Predicted predicted;
  for (const Prediction& prediction : scaling.input.predictions)
    if (step_of(prediction.simulated) > 0) predicted.emplace(prediction.measured.asked.key(), &prediction.simulated);
  std::vector<const Point*> of_chart, of_all;
  for (const Subject& subject : subjects_by_spread(scaling.input.points)) {
    std::vector<Curve> curves = curves_of(scaling, subject);
    choose_shown(curves, scaling);
    if (of_chart.empty()) of_chart = last_points(curves, true);
    for (const Point* point : last_points(curves, false)) of_all.push_back(point);
  }
  of_chart = beside_predictions(of_chart, predicted);
  of_all = beside_predictions(of_all, predicted);
  if (of_all.empty()) return {};
  const bool measured = std::ranges::any_of(of_all, [](const Point* point) { return point->asked.is_timed(); });
  Blocks blocks{
      Heading{1, "Where the time goes"},
      Paragraph{fmt::format(
          "Parts of a step on the most GPUs, in per cent of it: compute as long as one GPU alone takes for it, "
          "waiting for the slowest GPU, compute slowed by communication in flight, and communication that was "
          "not hidden. They add up to 100 %.{}",
          measured ? " Those of measured steps are medians over traced steps, which follow the timed ones, "
                     "and over launches; slowed compute is what the passes take longer than alone, for "
                     "whatever reason, and a part of compute where '-' says that it is not known."
                   : "")}};
  const bool all_in_lead = of_all.size() == of_chart.size();
  Table all = table_of("All workloads, networks and strategies", of_all, scaling.words);
  all.folded = !all_in_lead;
  if (!all_in_lead && !of_chart.empty())
    blocks.push_back(table_of("The lines of the first chart", of_chart, scaling.words));
  blocks.push_back(std::move(all));
  return blocks;
}

}  // namespace hbench
