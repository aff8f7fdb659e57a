#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "reports/scaling/series.hpp"
#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

/// Of one question, the best point of each method, the most efficient first.
using Methods = std::vector<const Point*>;

std::string method_text(const Case& asked) {
  const std::optional<MethodChoice> method = known_method(asked.strategy.method);
  return method ? method->text() : asked.strategy.method;
}

/// Where a method has points without compression only these count, because compressed gradients are not the same
/// training.
Methods best_by_method(const Pointers& points) {
  const auto rank = [](const Point* point) {
    return std::pair(!point->asked.strategy.compresses(), efficiency_of(point));
  };
  std::map<std::string, const Point*> best;
  for (const Point* point : points) {
    const Point*& known = best[method_text(point->asked)];
    if (known == nullptr || rank(known) < rank(point)) known = point;
  }
  Methods methods;
  for (const auto& [method, point] : best) methods.push_back(point);
  std::ranges::stable_sort(methods, std::ranges::greater{}, efficiency_of);
  return methods;
}

/// Of each evidence, where several methods reach its most GPUs.
std::vector<Methods> compared(const std::vector<Point>& points, const Subject& subject) {
  std::vector<Methods> all;
  for (const Evidence evidence : {Evidence::measured, Evidence::emulated, Evidence::simulated})
    for (const Pointers& question : by_question(points_at_most_gpus(points, subject, evidence)))
      if (Methods methods = best_by_method(question); methods.size() > 1) all.push_back(std::move(methods));
  return all;
}

/// Between nodes, and of a job on one node inside it. Bytes.
double sent_by(const Point& point, bool between) {
  const auto sent = point.sent.find(between ? "between" : "within");
  return sent == point.sent.end() ? 0 : sent->second;
}

/// A point for each method of one question whose bytes are known; methods that would be drawn on each other share one.
std::vector<ChartPoint> chart_points(const Methods& methods, const ScalingWords& words, bool between) {
  constexpr double kOneMark = 0.01;
  std::vector<ChartPoint> drawn;
  for (const Point* point : methods) {
    const double megabytes = sent_by(*point, between) / 1e6, efficiency = efficiency_of(point);
    if (megabytes == 0) continue;
    const bool beside = !drawn.empty() && drawn.back().y - efficiency < kOneMark &&
                        std::fabs(drawn.back().x / megabytes - 1) < kOneMark;
    if (beside)
      drawn.back().label += ", " + method_text(point->asked);
    else
      drawn.push_back(
          {.x = megabytes, .y = efficiency, .note = words.strategy(point->asked), .label = method_text(point->asked)});
  }
  return drawn;
}

Chart chart_of(const Scaling& scaling, const std::vector<Methods>& questions) {
  const bool between = std::ranges::any_of(questions, [](const Methods& methods) {
    return std::ranges::any_of(methods, [](const Point* point) { return sent_by(*point, true) > 0; });
  });
  const Case& first = questions.front().front()->asked;
  Chart chart{.id = chart_id("methods", first),
              .title = scaling.words.workload(first),
              .x_title = fmt::format("MB {} for each GPU and iteration", between ? "between nodes" : "within the node"),
              .y_title = "Scaling efficiency",
              .x_log2 = true,
              .y_percent = true,
              .y_min = 0,
              .caption = "How much of ideal speed each method keeps, for how many bytes. The table has the ranges."};
  for (const Methods& methods : questions) {
    const Case& asked = methods.front()->asked;
    for (ChartPoint& point : chart_points(methods, scaling.words, between)) {
      const std::string method = point.label;
      chart.series.push_back({.label = fmt::format("{}, {}", method, scaling.words.network_id(asked)),
                              .mark = mark_of(asked.evidence),
                              .group = method,
                              .points = {std::move(point)}});
    }
  }
  return chart;
}

/// The rest of the strategy.
std::string strategy_beside_method(Strategy strategy) {
  strategy.method.clear();
  return ScalingWords::in_brief(strategy);
}

/// The prediction of the same step, whose messages are the same; null for a prediction, or where there is none.
const Point* prediction_of(const Point& point, const std::vector<Point>& points) {
  const auto question = [](const Case& asked) {
    return std::tie(asked.workload, asked.gpus, asked.nodes, asked.batch_per_gpu, asked.accumulate, asked.strategy,
                    asked.training.optimizer);
  };
  const auto predicts = [&](const Point& other) {
    const bool elsewhere = point.asked.evidence == Evidence::emulated && other.asked.profile != point.asked.profile;
    return other.asked.evidence == Evidence::simulated && !other.failed && !elsewhere &&
           question(other.asked) == question(point.asked);
  };
  if (point.asked.evidence == Evidence::simulated) return nullptr;
  const auto found = std::ranges::find_if(points, predicts);
  return found == points.end() ? nullptr : &*found;
}

/// `196 MB`, or of what is not counted in a timed step `196 MB, predicted`.
std::string counted_or_predicted(std::string (*cell)(const Point&), const Point& point, const Point* prediction) {
  std::string own = cell(point);
  if (own != "-" || prediction == nullptr) return own;
  const std::string predicted = cell(*prediction);
  return predicted == "-" ? own : predicted + ", predicted";
}

std::vector<std::string> row_of(const Point& point, const Scaling& scaling) {
  const Case& asked = point.asked;
  const ScalingWords& words = scaling.words;
  const Point* const prediction = prediction_of(point, scaling.input.points);
  return {words.workload(asked),
          words.network_id(asked),
          std::to_string(asked.gpus),
          std::string(to_string(asked.evidence)),
          method_text(asked),
          strategy_beside_method(asked.strategy),
          rate_cell(point.throughput),
          percent_cell(point.efficiency),
          interval_cell(point),
          counted_or_predicted(memory_cell, point, prediction),
          counted_or_predicted(sent_cell, point, prediction),
          staleness_cell(point),
          percent_cell(point.idle_share),
          point.consensus_distance ? fmt::format("{:.3g}", *point.consensus_distance) : "-"};
}

}  // namespace

Blocks method_costs(const Scaling& scaling) {
  Table table{.caption = "Methods on the most GPUs, the most efficient first",
              .columns = {"workload", "network", numbers("GPUs"), "evidence", "method", "strategy",
                          numbers("samples/s"), numbers("efficiency"), numbers("low to high"), numbers("memory"),
                          numbers("sent per GPU"), numbers("unseen"), numbers("idle"), numbers("apart")},
              .grouped = true};
  ChartGroup charts{"Efficiency and bytes", {}};
  for (const Subject& subject : subjects_by_spread(scaling.input.points)) {
    const std::vector<Methods> questions = compared(scaling.input.points, subject);
    for (const Methods& methods : questions)
      for (const Point* point : methods) table.rows.push_back(row_of(*point, scaling));
    if (questions.empty()) continue;
    if (Chart chart = chart_of(scaling, questions); chart.series.size() > 1) charts.charts.push_back(std::move(chart));
  }
  if (table.rows.empty()) return {};
  for (const char* name : {"memory", "sent per GPU", "unseen", "idle", "apart"}) erase_if_empty(table, name);
  Blocks blocks{
      Heading{1, "What each training method costs"},
      Paragraph{
          "Each by its best configuration on the most GPUs. Memory: weights, gradients, optimizer's state and "
          "activations that a GPU keeps, of a timed step by its prediction, where there is one; sent: what all send in "
          "an iteration, for each GPU, of a timed step counted by the ranks; unseen: gradients of others that were "
          "applied while a rank "
          "computed its own; apart: the root mean square distance of ranks' parameters from their mean. None of "
          "it says how fast a model learns."}};
  if (!charts.charts.empty()) blocks.push_back(std::move(charts));
  blocks.push_back(std::move(table));
  return blocks;
}

}  // namespace hbench
