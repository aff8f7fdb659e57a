#include "reports/compare/framework_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/points/lead.hpp"
#include "reports/formats/plain_text.hpp"
#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

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
