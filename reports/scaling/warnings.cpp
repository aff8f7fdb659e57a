#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

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
    for (const std::string& sentence : point.warnings) {
      const auto [place, added] = places.try_emplace(sentence, doubts.size());
      if (added) doubts.push_back({sentence, {}});
      doubts[place->second].points.push_back(name_of(point, scaling.words));
    }
  }
  return doubts;
}

/// The first points by name, the rest by their number.
std::string in_words(const Doubt& doubt) {
  constexpr std::size_t kNamed = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, doubt.points.size()); ++i)
    names += (i == 0 ? "" : "; ") + doubt.points[i];
  if (doubt.points.size() > kNamed) names += fmt::format(" and {} more", doubt.points.size() - kNamed);
  return fmt::format("{}: {}", names, doubt.sentence);
}

}  // namespace

Blocks warnings(const Scaling& scaling) {
  Warnings block{{failures_sentence(scaling), throttled_sentence(scaling)}};
  std::erase(block.texts, "");
  for (const Doubt& doubt : doubts_of(scaling)) block.texts.push_back(in_words(doubt));
  if (block.texts.empty()) return {};
  return {std::move(block)};
}

}  // namespace hbench
