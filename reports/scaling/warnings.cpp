#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/prediction/by_library.hpp"
#include "analysis/records/words.hpp"
#include "collectives/base/text.hpp"
#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

std::string share_cell(std::size_t iterations, const ThrottledShare& among) {
  return percent_cell(static_cast<double>(iterations) / static_cast<double>(among.iterations));
}

bool is_held_back(const Point& point) { return !point.failed && point.throttled.worst() != Throttling::none; }

/// A sentence and the points that it is said of.
struct Doubt {
  std::string sentence;
  std::vector<std::string> points;
};

/// `ResNet-18 at 64x64, ring on 2 ranks`.
std::string name_of(const Point& point, const ScalingWords& words) {
  return fmt::format("{}, {} on {}", words.workload(point.asked), words.strategy(point.asked),
                     ScalingWords::gpus(point.asked));
}

std::vector<Doubt> doubts_of(const Scaling& scaling) {
  std::vector<Doubt> doubts;
  std::map<std::string, std::size_t> places;
  for (const Point& point : scaling.input.points) {
    if (point.failed) continue;
    std::vector<std::string> sentences = point.warnings;
    if (std::string fault = fault_of_flat(point); !fault.empty()) sentences.push_back(std::move(fault));
    for (const std::string& sentence : sentences) {
      const auto [place, added] = places.try_emplace(sentence, doubts.size());
      if (added) doubts.push_back({sentence, {}});
      doubts[place->second].points.push_back(name_of(point, scaling.words));
    }
  }
  return doubts;
}

/// The first points by name, the rest by their number.
std::string in_words(const Doubt& doubt) {
  return fmt::format("{}: {}", some_of(doubt.points, 3, "; "), doubt.sentence);
}

}  // namespace

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

Blocks throttled_points(const Scaling& scaling) {
  Table table{.caption = "Measured while a GPU was held back: share of the iterations",
              .columns = {"workload", "where", numbers("ranks"), "strategy", numbers("throttled"),
                          numbers("at its power cap"), "why"}};
  for (const Point& point : scaling.input.points) {
    if (!is_held_back(point)) continue;
    const Case& asked = point.asked;
    const ThrottledShare& share = point.throttled;
    table.rows.push_back({scaling.words.workload(asked), scaling.words.network(asked), std::to_string(asked.gpus),
                          scaling.words.strategy(asked), share_cell(share.throttled, share),
                          share_cell(share.power_capped, share), throttling_text(share.reasons)});
  }
  if (table.rows.empty()) return {};
  return {std::move(table)};
}

std::string throttled_sentence(const Scaling& scaling) {
  const auto throttled = std::ranges::count_if(scaling.input.points, [](const Point& point) {
    return is_held_back(point) && point.throttled.worst() == Throttling::throttled;
  });
  if (throttled == 0) return "";
  return fmt::format("{} measured while a GPU was throttled: a table below says which",
                     throttled == 1 ? "1 point was" : fmt::format("{} points were", throttled));
}

Blocks warnings(const Scaling& scaling) {
  Warnings block{{failures_sentence(scaling), throttled_sentence(scaling)}};
  std::erase(block.texts, "");
  for (const Doubt& doubt : doubts_of(scaling)) block.texts.push_back(in_words(doubt));
  if (block.texts.empty()) return {};
  return {std::move(block)};
}

}  // namespace hbench
