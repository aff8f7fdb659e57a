#include "reports/scaling/sides.hpp"

#include <cmath>
#include <functional>
#include <set>
#include <tuple>

#include "reports/scaling/words.hpp"

namespace hbench {
namespace {

using Way = std::function<bool(const Strategy& strategy)>;

/// What two points must share to be compared.
auto question_of(const Case& asked) {
  return std::tie(asked.evidence, asked.workload, asked.image_size, asked.gpus, asked.batch_per_gpu, asked.accumulate,
                  asked.profile, asked.training.device, asked.training.precision, asked.training.recompute,
                  asked.training.optimizer);
}

const Point* most_efficient(const Pointers& points) {
  const auto found = std::ranges::max_element(points, {}, efficiency_of);
  return found == points.end() ? nullptr : *found;
}

const Point* best_of(const Pointers& points, const Way& way) {
  return most_efficient(filtered(points, [&](const Point* point) { return way(point->asked.strategy); }));
}

void sort_by_efficiency(std::vector<Match>& matches) {
  std::ranges::stable_sort(matches, std::ranges::greater{},
                           [](const Match& match) { return *match.better().efficiency; });
}

std::vector<Match> matches_of(const Pointers& points, const Way& first, const Way& second) {
  std::vector<Match> matches;
  for (const Pointers& group : by_question(points))
    if (const Match match{best_of(group, first), best_of(group, second)}; match.first || match.second)
      matches.push_back(match);
  sort_by_efficiency(matches);
  return matches;
}

/// Names of a way's best points: the one that all of them have, or `several`.
std::string common_name(const std::vector<Match>& matches, const Point* Match::*side, const std::string& several) {
  std::set<std::string> names;
  for (const Match& match : matches)
    if (const Point* point = match.*side) names.insert(ScalingWords::way(point->asked.strategy));
  return names.size() == 1 ? *names.begin() : several;
}

/// What strategies differ in, such as their compressor or their label.
using Kind = std::function<std::string(const Strategy& strategy)>;

/// The kinds among `points`, the best first: tried on the most networks, and there the nearest to the best on average.
std::vector<std::string> ranked(const Pointers& points, const Kind& kind) {
  struct Score {
    int networks = 0;
    double behind = 0;
  };
  std::map<std::string, Score> scores;
  for (const Pointers& group : by_question(points)) {
    std::map<std::string, double> best;
    for (const Point* point : group) {
      double& known = best[kind(point->asked.strategy)];
      known = std::max(known, efficiency_of(point));
    }
    for (const auto& [name, efficiency] : best) {
      ++scores[name].networks;
      scores[name].behind += std::log(efficiency_of(most_efficient(group)) / efficiency);
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, score] : scores) names.push_back(name);
  std::ranges::stable_sort(names, {}, [&](const std::string& name) {
    return std::pair(-scores[name].networks, scores[name].behind / scores[name].networks);
  });
  return names;
}

std::string compressor_of(const Strategy& strategy) { return strategy.compresses() ? strategy.compressor : ""; }

/// Whether compressors were asked for by name: others than the default sweep's, or nothing else is there to compare.
bool is_over_compressors(const std::vector<std::string>& compressors, const std::vector<Match>& sides) {
  const std::string usual = "fp16";
  if (std::ranges::find(compressors, "") == compressors.end() || compressors.size() < 2) return false;
  return std::ranges::none_of(sides, &Match::both) ||
         std::ranges::any_of(compressors, [&](const std::string& name) { return !name.empty() && name != usual; });
}

}  // namespace

std::vector<Pointers> by_question(const Pointers& points) {
  std::vector<Pointers> questions;
  for (const Point* point : points) {
    const auto same = [&](const Pointers& group) {
      const Case& known = group.front()->asked;
      return question_of(known) == question_of(point->asked) && known.nodes_label() == point->asked.nodes_label();
    };
    auto group = std::ranges::find_if(questions, same);
    if (group == questions.end()) group = questions.insert(questions.end(), Pointers{});
    group->push_back(point);
  }
  return questions;
}

std::vector<Match> best_of_sides(const Pointers& points) {
  std::vector<Match> matches;
  for (const Pointers& group : by_question(points)) {
    const auto side = [&](bool servers) {
      const auto way = [servers](const Strategy& strategy) { return strategy.uses_servers() == servers; };
      const auto plain = [&](const Strategy& strategy) { return way(strategy) && !strategy.compresses(); };
      const Point* best = best_of(group, plain);
      return best != nullptr ? best : best_of(group, way);
    };
    matches.push_back({side(false), side(true)});
  }
  sort_by_efficiency(matches);
  return matches;
}

Contest contest_of(const Pointers& points) {
  std::vector<Match> sides = best_of_sides(points);
  const std::vector<std::string> compressors = ranked(points, compressor_of);
  const auto of = [](const Kind& kind, const std::string& name) -> Way {
    return [kind, name](const Strategy& strategy) { return kind(strategy) == name; };
  };
  if (is_over_compressors(compressors, sides)) {
    const std::string& best = compressors.front().empty() ? compressors[1] : compressors.front();
    return {"no compression", best, matches_of(points, of(compressor_of, ""), of(compressor_of, best))};
  }
  if (std::ranges::any_of(sides, &Match::both))
    return {common_name(sides, &Match::first, "the best all-reduce"),
            common_name(sides, &Match::second, "the best parameter servers"), std::move(sides)};
  const Kind label = [](const Strategy& strategy) { return strategy.label(); };
  const std::vector<std::string> labels = ranked(points, label);
  if (labels.size() < 2) return {"", "", std::move(sides)};
  return {labels[0], labels[1], matches_of(points, of(label, labels[0]), of(label, labels[1]))};
}

}  // namespace hbench
