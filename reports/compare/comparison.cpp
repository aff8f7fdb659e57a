#include "reports/compare/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/points/lead.hpp"
#include "reports/formats/plain_text.hpp"
#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

/// Two digits at least.
std::string two_digits(double share) {
  const double value = 100 * share;
  return value < 9.95 ? fmt::format("{:.2g}", value) : fmt::format("{:.0f}", value);
}

/// `78 (69 to 88)`.
std::string cell(const Point& point) {
  const double stated = *point.efficiency;
  if (!point.efficiency_low || !point.efficiency_high) return two_digits(stated);
  return fmt::format("{} ({} to {})", two_digits(stated), two_digits(*point.efficiency_low),
                     two_digits(*point.efficiency_high));
}

/// The framework's name; published figures may have a strategy of no preset.
std::string framework(const Case& asked) {
  return asked.strategy.preset.empty() ? asked.strategy.label() : asked.strategy.preset;
}

/// One curve: a framework at a place.
struct Curve {
  std::string place, strategy;
  std::vector<const Point*> points;
};

bool is_shown(const Point& point) { return point.efficiency && !point.failed; }

/// The curves of one workload, predicted or as others printed them, in the order in which places and frameworks were
/// asked for.
std::vector<Curve> rows_of(const ComparisonAnswer& answer, const std::string& workload, bool (Case::*known)() const) {
  std::vector<Curve> rows;
  for (const Point& point : answer.points) {
    if (!is_shown(point) || !(point.asked.*known)() || point.asked.workload != workload) continue;
    const std::string& place = answer.labels.at(point.asked.profile);
    const std::string strategy = framework(point.asked);
    auto row =
        std::ranges::find_if(rows, [&](const Curve& each) { return each.place == place && each.strategy == strategy; });
    if (row == rows.end()) row = rows.insert(rows.end(), {.place = place, .strategy = strategy});
    row->points.push_back(&point);
  }
  return rows;
}

std::vector<std::string> workloads_of(const ComparisonAnswer& answer) {
  std::vector<std::string> workloads;
  for (const Point& point : answer.points)
    if (is_shown(point) && point.asked.is_predicted() &&
        std::ranges::find(workloads, point.asked.workload) == workloads.end())
      workloads.push_back(point.asked.workload);
  return workloads;
}

std::vector<int> counts_of(const ComparisonAnswer& answer) {
  std::set<int> counts;
  for (const Point& point : answer.points)
    if (is_shown(point) && point.asked.is_predicted()) counts.insert(point.asked.gpus);
  return {counts.begin(), counts.end()};
}

const Point* at(const Curve& row, int gpus) {
  const auto found = std::ranges::find_if(row.points, [&](const Point* point) { return point->asked.gpus == gpus; });
  return found == row.points.end() ? nullptr : *found;
}

/// The best and the worst on the most GPUs, of each workload.
std::string verdict(const ComparisonAnswer& answer) {
  const int most = counts_of(answer).back();
  std::string text = fmt::format("Simulated efficiency on {} GPUs, best and worst:", most);
  for (const std::string& workload : workloads_of(answer)) {
    const Point *best = nullptr, *worst = nullptr;
    for (const Curve& row : rows_of(answer, workload, &Case::is_predicted)) {
      const Point* point = at(row, most);
      if (point == nullptr) continue;
      if (best == nullptr || *point->efficiency > *best->efficiency) best = point;
      if (worst == nullptr || *point->efficiency < *worst->efficiency) worst = point;
    }
    if (best == nullptr) continue;
    const auto words = [&](const Point& point) {
      return fmt::format("{} % with {}, {}", cell(point), framework(point.asked),
                         answer.labels.at(point.asked.profile));
    };
    text += fmt::format(" {}: {}; {}.", answer.titles.at(workload), words(*best), words(*worst));
  }
  return text;
}

/// How far the best framework of its place is ahead of a row on the most GPUs: `level`, `likely 1.2 (0.9 to 1.4)`,
/// `1.5 (1.3 to 1.8)`; `-` of the best itself.
std::string behind_best(const Curve& row, const std::vector<Curve>& rows, int gpus) {
  const Point *own = at(row, gpus), *best = own;
  if (own == nullptr) return "-";
  for (const Curve& other : rows)
    if (const Point* point = at(other, gpus);
        point != nullptr && other.place == row.place && *point->efficiency > *best->efficiency)
      best = point;
  if (best == own) return "-";
  const Lead lead = lead_of(*best, *own);
  if (lead.verdict() == LeadVerdict::level) return "level";
  return (lead.verdict() == LeadVerdict::likely ? "likely " : "") + lead.in_words();
}

Table efficiency_table(const ComparisonAnswer& answer, const std::string& workload) {
  Table table{.caption = fmt::format("{}: simulated efficiency in per cent and its 90 % band, by GPUs",
                                     answer.titles.at(workload)),
              .columns = {"where", "framework"}};
  const std::vector<int> counts = counts_of(answer);
  // The most GPUs are what is asked about.
  for (int left = static_cast<int>(counts.size()); const int gpus : counts)
    table.columns.push_back(numbers(std::to_string(gpus), --left));
  const std::vector<Curve> rows = rows_of(answer, workload, &Case::is_predicted);
  table.columns.emplace_back("best there, times as fast");
  for (const Curve& row : rows) {
    std::vector<std::string>& cells = table.rows.emplace_back(std::vector{row.place, row.strategy});
    for (const int gpus : counts) {
      const Point* point = at(row, gpus);
      cells.push_back(point == nullptr ? "-" : cell(*point));
    }
    cells.push_back(behind_best(row, rows, counts.back()));
  }
  return table;
}

Chart efficiency_chart(const ComparisonAnswer& answer, const std::string& workload) {
  Chart chart{.id = fmt::format("{}-{}", answer.asked->name, workload),
              .title = answer.titles.at(workload),
              .x_title = "GPUs",
              .y_title = "efficiency",
              .x_log2 = true,
              .y_percent = true,
              .y_min = 0,
              .y_max = 1};
  // More of them on top of each other show nothing.
  constexpr std::size_t kMostBandedRows = 4;
  const bool bands = rows_of(answer, workload, &Case::is_predicted).size() <= kMostBandedRows;
  chart.caption = bands ? "Shaded: the 90 % band." : "The 90 % bands are in the table.";
  for (bool (Case::*known)() const : {&Case::is_predicted, &Case::is_of_others})
    for (const Curve& row : rows_of(answer, workload, known)) {
      const Case& first = row.points.front()->asked;
      Series series{
          .label = fmt::format("{}, {}{}", row.place, row.strategy, first.is_of_others() ? ", published" : ""),
          .mark = mark_of(first.evidence),
          .group = row.place,
          .family = row.strategy};
      for (const Point* point : row.points)
        series.points.push_back({.x = static_cast<double>(point->asked.gpus),
                                 .y = *point->efficiency,
                                 .low = bands ? point->efficiency_low : std::nullopt,
                                 .high = bands ? point->efficiency_high : std::nullopt,
                                 .note = first.is_of_others() ? point->asked.source : ""});
      std::ranges::sort(series.points, {}, &ChartPoint::x);
      chart.series.push_back(std::move(series));
    }
  return chart;
}

bool in_band(const Comparison& pair) {
  const double seen = *pair.published.efficiency;
  return seen >= pair.simulated.efficiency_low.value_or(0) && seen <= pair.simulated.efficiency_high.value_or(1);
}

Table published_table(const ComparisonAnswer& answer) {
  Table table{.caption = "What was published, beside the simulation of the same (efficiency in per cent)",
              .columns = {"workload", "where", numbers("GPUs"), "framework", numbers("published"), numbers("simulated"),
                          texts("in band", 2), texts("chosen with it", 1), texts("source", 3)}};
  for (const Comparison& pair : compare_with_published(answer.points)) {
    const Case& asked = pair.published.asked;
    table.rows.push_back({asked.workload, answer.labels.at(asked.profile), std::to_string(asked.gpus), framework(asked),
                          two_digits(*pair.published.efficiency), cell(pair.simulated), in_band(pair) ? "yes" : "no",
                          pair.chosen.empty() ? "nothing" : pair.chosen, asked.source});
  }
  return table;
}

void point_fields(Row& row, const Point& point, const std::string& where) {
  row.field("where", where, "the label of its place");
  row.field("workload", point.asked.workload);
  row.field("gpus", point.asked.gpus);
  row.field("batch_per_gpu", point.asked.batch_per_gpu, "samples of a step");
  row.field("framework", framework(point.asked));
  row.field("evidence", to_string(point.asked.evidence));
  row.field("efficiency", point.efficiency);
  row.field("efficiency_low", point.efficiency_low, "of the 90 % band");
  row.field("efficiency_high", point.efficiency_high, "of the 90 % band");
  row.field("source", point.asked.source, "of a published figure");
}

void comparison_fields(Row& row, const ComparisonAnswer& answer) {
  row.field("comparison", answer.asked->name);
  row.field("question", answer.asked->summary);
  row.rows("points", answer.points, [&](Row& point_row, const Point& point) {
    point_fields(point_row, point, answer.labels.at(point.asked.profile));
  });
}

/// What a side is compared with where the other is missing.
constexpr MeasuredSide kOwnRing{.title = "hbench's ring", .frameworks = ""};

bool is_of(const Point& point, const MeasuredSide& side) {
  const std::string_view framework = point.asked.strategy.framework;
  return side.frameworks.empty() ? framework.empty() : framework.starts_with(side.frameworks);
}

/// What was timed on several ranks, the quickest first.
std::vector<const Point*> timed(const std::vector<Point>& points) {
  std::vector<const Point*> all;
  for (const Point& point : points)
    if (point.asked.is_timed() && !point.failed && point.asked.gpus > 1) all.push_back(&point);
  std::ranges::stable_sort(all, std::ranges::greater{}, &Point::throughput);
  return all;
}

/// Null where nothing of a side was timed.
const Point* quickest(const std::vector<const Point*>& points, const MeasuredSide& side) {
  const auto found = std::ranges::find_if(points, [&](const Point* point) { return is_of(*point, side); });
  return found == points.end() ? nullptr : *found;
}

std::string verdict(const Scaling& scaling, const std::vector<const Point*>& points,
                    const std::array<MeasuredSide, 2>& sides) {
  const Point *first = quickest(points, sides[0]), *second = quickest(points, sides[1]);
  if (first == nullptr || second == nullptr)
    return fmt::format("No answer: no launch of {} was good.", sides[first == nullptr ? 0 : 1].title);
  return fmt::format(
      "{} ({} against {}, {} on {} CPU ranks of this machine).",
      ScalingWords::who_is_ahead(lead_of(*first, *second), std::string(sides[0].title), std::string(sides[1].title)),
      first->asked.strategy_label(), second->asked.strategy_label(), scaling.words.workload(first->asked),
      first->asked.gpus);
}

constexpr std::string_view kOfGpus =
    "What this says of GPUs: not who is quicker there. Here a rank computes on one core, and gradients pass through "
    "memory or the loopback interface; a GPU computes about a hundred times as fast, and sends by NCCL over NVLink and "
    "a network. It does say what a framework costs its host: its copies, its threads, its messages. The same command "
    "without --measured simulates both on GPUs. TensorFlow's servers are asynchronous: they wait for nobody, and train "
    "by gradients of older parameters, which costs accuracy that no step time shows.";

Table all_of(const Scaling& scaling, const std::vector<const Point*>& points) {
  Table table{.caption = "Measured in turn, the quickest first",
              .columns = {"what", numbers("step, ms"), numbers("samples/s"), numbers("of ideal speed"),
                          numbers("95 % interval"), "the quickest is faster by"}};
  for (const Point* point : points) {
    const std::string name = point->asked.strategy.of_framework() ? scaling.words.strategy(point->asked)
                                                                  : "hbench, " + scaling.words.strategy(point->asked);
    const bool is_quickest = point == points.front();
    table.rows.push_back({name, format_figure(1000 * point->step_seconds, false), rate_cell(point->throughput),
                          percent_cell(point->efficiency), interval_cell(*point),
                          is_quickest ? "-" : lead_of(*points.front(), *point).in_words()});
  }
  return table;
}

}  // namespace

Document comparison_document(const ComparisonAnswer& answer) {
  Document document{.title = std::string(answer.asked->summary)};
  document.blocks.emplace_back(Verdict{verdict(answer)});
  document.blocks.emplace_back(Paragraph{std::string(answer.asked->note)});
  ChartGroup charts{.title = "Scaling efficiency"};
  for (const std::string& workload : workloads_of(answer)) charts.charts.push_back(efficiency_chart(answer, workload));
  document.blocks.emplace_back(std::move(charts));
  for (const std::string& workload : workloads_of(answer))
    document.blocks.emplace_back(efficiency_table(answer, workload));
  document.add_table(published_table(answer));
  if (!answer.refused.empty())
    document.blocks.emplace_back(Paragraph{fmt::format("Left out: {}.", reasons(answer.refused))});
  return document;
}

std::string comparison_json(const ComparisonAnswer& answer, Form form) {
  return object_text(form, "hbench compare --json", answer, comparison_fields);
}

Document framework_comparison(const ReportInput& input, std::array<MeasuredSide, 2> sides,
                              const std::optional<Refusal>& missing) {
  const Scaling scaling(input);
  const std::vector<const Point*> points = timed(input.points);
  Document document{.title = fmt::format("{} or {}, measured", sides[0].title, sides[1].title)};
  std::string lacking;
  if (missing) {
    std::ranges::replace(sides, missing->what, kOwnRing, &MeasuredSide::title);
    lacking = fmt::format(" {} was not measured: {}.", missing->what, missing->why);
  }
  document.blocks.emplace_back(Verdict{verdict(scaling, points, sides) + lacking});
  for (Block& block : warnings(scaling)) document.blocks.push_back(std::move(block));
  if (!points.empty()) document.blocks.emplace_back(all_of(scaling, points));
  document.blocks.emplace_back(Paragraph{std::string(kOfGpus)});
  for (Block& block : measured_comparison(scaling)) document.blocks.push_back(std::move(block));
  return document;
}

}  // namespace hbench
