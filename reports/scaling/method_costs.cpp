#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "reports/scaling/scaling.hpp"
#include "reports/scaling/series.hpp"
#include "workloads/methods/method.hpp"
#include "workloads/simulation/method_drawing.hpp"

namespace hbench {
namespace {

/// The methods of points, each once, by their texts.
std::map<std::string, MethodChoice> methods_of(const std::vector<Point>& points) {
  std::map<std::string, MethodChoice> methods;
  std::set<std::string> read;
  for (const Point& point : points) {
    if (!read.insert(point.asked.strategy.method).second) continue;
    if (const auto method = known_method(point.asked.strategy.method)) methods.emplace(method->text(), *method);
  }
  return methods;
}

Table definitions() {
  return {
      .caption = "What the words mean",
      .columns = {"word", "meaning"},
      .rows = {
          {"scaling efficiency", "throughput on N GPUs / (N x throughput of the baseline)"},
          {"baseline",
           "simulated: one GPU without communication at the rate that the profile states; measured: one process "
           "without communication, same machine, batch and image size; published: one GPU as the source states it"},
          {"measured",
           "timed here; the job's step, which is the mean over ranks, the median over iterations, then over launches; "
           "warm-up left out. Interval: where 95 of 100 repeats of the whole run lie, from the launches' ratios to the "
           "baseline launches beside them"},
          {"emulated",
           "timed here on links slowed to a profile: of this machine's own steps, or of a cluster's, whose compute is "
           "replayed in stretched time"},
          {"simulated",
           "computed from a recorded timeline of a step, the schedule of the collective and a network profile "
           "(collectives/network). Band: where 9 of 10 real steps lie, as wide as what is not known makes it "
           "(hbench validate tries it on published steps)"},
          {"published", "as printed by its source; not repeated here"},
          {"ring", "ring all-reduce: every rank sends and receives 2(N-1)/N of the gradients"},
          {"ps",
           "synchronous parameter servers. greedy: whole tensors, spread by size; sliced: tensors cut to balance "
           "bytes; dedicated: on nodes of their own; colocated: on the workers' nodes"},
          {"vendor", "the communication library's own all-reduce"},
          {"+ fp16", "gradients halved to 16 bits on the wire"}}};
}

std::set<std::string> profiles_of(const std::vector<Point>& points) {
  std::set<std::string> profiles;
  for (const Point& point : points) profiles.insert(point.asked.profile);
  return profiles;
}

Table networks(const Scaling& scaling) {
  Table table{.caption = "Networks", .columns = {"network", "in full", "GPU"}};
  for (const std::string& profile : profiles_of(scaling.input.points)) {
    const auto title = scaling.input.profile_titles.find(profile);
    const auto gpu = scaling.input.profile_gpus.find(profile);
    const bool elsewhere = std::ranges::all_of(scaling.input.points, [&](const Point& point) {
      return point.asked.profile != profile || has_recorded_rate(point.asked);
    });
    const bool unknown = elsewhere || gpu == scaling.input.profile_gpus.end();
    if (title != scaling.input.profile_titles.end())
      table.rows.push_back({profile, title->second, unknown ? "-" : gpu->second});
  }
  return table;
}

Table run_table(const Run& run) {
  Table table{.caption = fmt::format("Run of {}", run.started_at), .columns = {"what", ""}};
  table.rows = {{"command", run.command}, {"hbench", run.version}};
  for (const auto& [fact, value] : run.environment) table.rows.push_back({fact, value});
  return table;
}

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
  for (const EvidenceKind& kind : kEvidenceKinds) {
    if (kind.of_others) continue;
    for (const Pointers& question : by_question(points_at_most_gpus(points, subject, kind.evidence)))
      if (Methods methods = best_by_method(question); methods.size() > 1) all.push_back(std::move(methods));
  }
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

Chart costs_chart(const Scaling& scaling, const std::vector<Methods>& questions) {
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
    const bool elsewhere = !point.asked.is_of_machine() && other.asked.profile != point.asked.profile;
    return other.asked.is_predicted() && !other.failed && !elsewhere && question(other.asked) == question(point.asked);
  };
  if (point.asked.is_predicted()) return nullptr;
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

Blocks training_methods(const Scaling& scaling) {
  const std::map<std::string, MethodChoice> methods = methods_of(scaling.input.points);
  if (std::ranges::all_of(methods, [](const auto& each) { return each.second.is_synchronous(); })) return {};
  Blocks blocks{Heading{1, "An iteration of each training method"}};
  for (const auto& [text, method] : methods) std::ranges::move(drawn(method), std::back_inserter(blocks));
  return blocks;
}

Blocks method(const Scaling& scaling) {
  Blocks blocks{Heading{1, "What ran where, and how"}};
  for (const Run& run : scaling.input.runs) blocks.push_back(run_table(run));
  if (Table table = networks(scaling); !table.rows.empty()) blocks.push_back(std::move(table));
  blocks.push_back(definitions());
  return blocks;
}

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
    if (Chart chart = costs_chart(scaling, questions); chart.series.size() > 1)
      charts.charts.push_back(std::move(chart));
  }
  if (table.rows.empty()) return {};
  for (const char* name : {"memory", "sent per GPU", "unseen", "idle", "apart"}) erase_if_empty(table, name);
  Blocks blocks{
      Heading{1, "What each training method costs"},
      Paragraph{
          "Each by its best configuration on the most GPUs. Memory: weights, gradients, optimizer's state and "
          "activations that a GPU keeps, of a timed step by its prediction, where there is one; sent: what all send in "
          "an iteration, for each GPU, of a timed step counted by the ranks; unseen: gradients of others that were "
          "applied while a rank computed its own; apart: the root mean square distance of ranks' parameters from their "
          "mean. None of it says how fast a model learns."}};
  if (!charts.charts.empty()) blocks.push_back(std::move(charts));
  blocks.push_back(std::move(table));
  return blocks;
}

}  // namespace hbench
