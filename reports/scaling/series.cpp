#include "reports/scaling/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// What points of one curve share: all but their GPUs, as text. The words of a strategy leave out what does not matter.
std::string place_and_strategy(const Case& asked, const ScalingWords& words) {
  const TrainingTask& task = asked.training;
  return fmt::format("{}\n{}\n{}\n{}\n{} {} {} {} {}\n{}", to_string(asked.evidence), asked.profile, asked.machine,
                     batch_in_words(asked), task.device, task.executor, task.precision, task.recompute, task.optimizer,
                     words.strategy(asked));
}

/// Curves of one subject, found by what their points share.
class CurveMaker {
 public:
  CurveMaker(const Scaling& scaling, const Subject& subject) {
    for (const Point& point : scaling.input.points)
      if (is_about(point.asked, subject) && !point.failed)
        entries_.push_back({&point, place_and_strategy(point.asked, scaling.words)});
    for (const auto& [point, shared] : entries_) {
      const auto [fewest, added] = fewest_nodes_.try_emplace({shared, point->asked.gpus}, point->asked.nodes);
      fewest->second = std::min(fewest->second, point->asked.nodes);
    }
  }

  std::vector<Curve> curves() const {
    std::vector<Curve> curves;
    std::map<std::pair<std::string, int>, std::size_t> places;
    for (const auto& [point, shared] : entries_) {
      if (!point->asked.strategy.communicates()) continue;
      const int nodes = extra_nodes(*point, shared);
      const auto [place, added] = places.try_emplace({shared, nodes}, curves.size());
      if (added) curves.push_back({.points = {}, .nodes = nodes});
      curves[place->second].points.push_back(point);
    }
    return curves;
  }

 private:
  struct Entry {
    const Point* point;
    std::string shared;
  };

  /// The nodes of a timed point where the same ranks ran on fewer as well; else 0.
  int extra_nodes(const Point& point, const std::string& shared) const {
    const bool fewer = fewest_nodes_.at({shared, point.asked.gpus}) < point.asked.nodes;
    return fewer && !point.asked.nodes_label().empty() ? point.asked.nodes : 0;
  }

  std::vector<Entry> entries_;
  std::map<std::pair<std::string, int>, int> fewest_nodes_;  ///< by what is shared and GPUs
};

/// A strategy whatever its framework and fusion policy: published figures belong beside the first that is simulated.
std::string plain_label(Strategy strategy) {
  strategy.fusion.clear();
  strategy.preset.clear();
  strategy.overlap = true;
  return strategy.label();
}

Series series_of(const Case& asked, const ScalingWords& words) {
  Series series{.label = fmt::format("{} on {}", words.strategy(asked), words.place(asked)),
                .mark = mark_of(asked.evidence),
                .group = asked.is_of_others() ? plain_label(asked.strategy) : asked.strategy.label(),
                .family = words.network_id(asked)};
  if (!asked.is_predicted()) series.label += fmt::format(" ({})", to_string(asked.evidence));
  return series;
}

/// Says the batch of curves that are called alike, and of those that have another one than most.
void label_batches(std::vector<Curve>& curves) {
  std::map<std::string, int> uses, batches;
  for (const Curve& curve : curves) {
    ++uses[curve.series.label];
    ++batches[batch_in_words(curve.asked())];
  }
  const auto most = std::ranges::max_element(batches, {}, [](const auto& each) { return each.second; });
  for (Curve& curve : curves)
    if (const std::string batch = batch_in_words(curve.asked()); uses[curve.series.label] > 1 || batch != most->first)
      curve.series.label += ", " + batch;
}

/// Gives published curves the colour of the first simulated one like them.
void group_published(std::vector<Curve>& curves) {
  for (Curve& published : curves) {
    if (published.series.mark != Mark::published) continue;
    const auto simulated = std::ranges::find_if(curves, [&](const Curve& curve) {
      return curve.series.mark == Mark::simulated && plain_label(curve.asked().strategy) == published.series.group;
    });
    if (simulated != curves.end()) published.series.group = simulated->series.group;
  }
}

/// Says of curves that are called alike in what they differ.
template <class InWords>
void tell_apart(std::vector<Curve>& curves, InWords in_words) {
  std::map<std::string, std::set<std::string>> differ;
  for (const Curve& curve : curves) differ[curve.series.label].insert(in_words(curve.asked()));
  for (Curve& curve : curves)
    if (differ[curve.series.label].size() > 1) curve.series.label += ", " + in_words(curve.asked());
}

/// One name for several machines: the digests differ.
std::string machine_in_words(const Case& asked) {
  constexpr std::size_t kDigits = 6;
  return "machine " + asked.machine.substr(0, kDigits);
}

std::string precision_in_words(const Case& asked) {
  return asked.training.precision.empty() ? "usual precision" : asked.training.precision;
}

constexpr std::size_t kShownNetworks = 6;
/// With no more curves than this none needs hiding.
constexpr std::size_t kFewCurves = 8;

using Names = std::vector<std::string>;

bool is_published(const Curve& curve) { return curve.asked().is_of_others(); }

bool is_timed(const Curve& curve) { return curve.asked().is_timed(); }

std::string profile_of(const Curve& curve) { return curve.asked().profile; }

/// In the order of their first use among the curves that are not published.
Names profiles_of(const std::vector<Curve>& curves) {
  Names profiles;
  for (const Curve& curve : curves)
    if (!is_published(curve) && !contains(profiles, profile_of(curve))) profiles.push_back(profile_of(curve));
  return profiles;
}

std::string most_published(const std::vector<Curve>& curves) {
  std::map<std::string, std::size_t> figures;
  for (const Curve& curve : curves)
    if (is_published(curve)) figures[profile_of(curve)] += curve.points.size();
  const auto most = std::ranges::max_element(figures, {}, [](const auto& entry) { return entry.second; });
  return most == figures.end() ? "" : most->first;
}

/// The first of `wanted` that are among `known`, without repeats.
Names first_known(const Names& wanted, const Names& known, std::size_t most) {
  Names chosen;
  for (const std::string& name : wanted)
    if (chosen.size() < most && contains(known, name) && !contains(chosen, name)) chosen.push_back(name);
  return chosen;
}

/// The networks that the sentence about `headline` names, or would.
void want(Names& profiles, const Headline& headline) {
  for (const Match* match : {&headline.easiest(), &headline.hardest(), headline.lead_of_second()})
    if (match) profiles.push_back(match->better().asked.profile);
}

/// On one network, at the most GPUs that were simulated there: the best of either side, and the best with compressed
/// gradients.
Pointers best_on(const std::string& profile, const std::vector<Curve>& curves) {
  Pointers last;
  for (const Curve& curve : curves)
    if (!is_published(curve) && !is_timed(curve) && profile_of(curve) == profile)
      std::ranges::copy_if(curve.points, std::back_inserter(last),
                           [](const Point* point) { return shows_scaling(*point); });
  int most = 0;
  for (const Point* point : last) most = std::max(most, point->asked.gpus);
  std::erase_if(last, [&](const Point* point) { return point->asked.gpus < most; });
  Pointers best;
  for (const Match& sides : best_of_sides(last))
    for (const Point* point : {sides.first, sides.second})
      if (point) best.push_back(point);
  const Pointers compressed = filtered(last, [](const Point* point) { return point->asked.strategy.compresses(); });
  if (!compressed.empty()) best.push_back(*std::ranges::max_element(compressed, {}, efficiency_of));
  return best;
}

/// Whether of the published curves of its group and network it has the most figures, or is the first of these: sources
/// try many fusion policies.
bool is_fullest_of_group(const Curve& published, const std::vector<Curve>& curves) {
  const Curve* fullest = nullptr;
  for (const Curve& other : curves)
    if (is_published(other) && other.series.group == published.series.group &&
        profile_of(other) == profile_of(published) &&
        other.asked().strategy.overlap == published.asked().strategy.overlap &&
        (fullest == nullptr || other.points.size() > fullest->points.size()))
      fullest = &other;
  return fullest == &published;
}

/// The strongest evidence there is.
void show_published(std::vector<Curve>& curves, const Names& profiles) {
  for (Curve& curve : curves)
    if (is_published(curve))
      curve.series.shown = contains(profiles, profile_of(curve)) && is_fullest_of_group(curve, curves);
}

/// The report's headline comes first, so that all charts show the same networks where they can.
Names profiles_to_show(const std::vector<Curve>& curves, const Scaling& scaling, const Headline& own) {
  Names wanted;
  want(wanted, *scaling.headline);
  wanted.push_back(most_published(curves));
  want(wanted, own);
  const Names all = profiles_of(curves);
  wanted.insert(wanted.end(), all.begin(), all.end());
  return first_known(wanted, all, kShownNetworks);
}

void show_few(std::vector<Curve>& curves, const Scaling& scaling, const Headline& own) {
  const Names profiles = profiles_to_show(curves, scaling, own);
  Pointers best{own.hardest().first, own.hardest().second};
  for (const std::string& profile : profiles) std::ranges::copy(best_on(profile, curves), std::back_inserter(best));
  for (Curve& curve : curves)
    curve.series.shown = is_timed(curve) || std::ranges::any_of(curve.points, [&](const Point* point) {
                           return std::ranges::find(best, point) != best.end();
                         });
  show_published(curves, profiles);
}

/// What is shown, then the rest; in either, lines before single marks.
int place(const Curve& curve) { return (curve.series.shown ? 0 : 2) + (is_published(curve) ? 1 : 0); }

/// The most efficient network is the first.
std::size_t rank(const Curve& curve, const Headline& headline) {
  const std::vector<Match>& matches = headline.contest.matches;
  const auto found =
      std::ranges::find(matches, profile_of(curve), [](const Match& match) { return match.better().asked.profile; });
  return static_cast<std::size_t>(found - matches.begin());
}

}  // namespace

std::string chart_id(std::string_view quantity, const Case& asked) {
  return fmt::format("{}-{}{}", quantity, asked.workload,
                     asked.image_size > 0 ? fmt::format("-{}", asked.image_size) : "");
}

std::vector<Curve> curves_of(const Scaling& scaling, const Subject& subject) {
  std::vector<Curve> curves = CurveMaker(scaling, subject).curves();
  for (Curve& curve : curves) {
    std::ranges::stable_sort(curve.points, {}, [](const Point* point) { return point->asked.gpus; });
    curve.series = series_of(curve.asked(), scaling.words);
    if (curve.nodes > 0) curve.series.label += fmt::format(", {} nodes", curve.nodes);
  }
  group_published(curves);
  label_batches(curves);
  tell_apart(curves, precision_in_words);
  tell_apart(curves, machine_in_words);
  return curves;
}

void choose_shown(std::vector<Curve>& curves, const Scaling& scaling) {
  if (curves.empty()) return;
  const auto lines = curves.size() - static_cast<std::size_t>(std::ranges::count_if(curves, is_published));
  if (const auto own = find_headline(scaling.input.points, subject_of(curves.front().asked()));
      own && lines > kFewCurves) {
    show_few(curves, scaling, *own);
    std::ranges::stable_sort(curves, {}, [&](const Curve& curve) { return rank(curve, *own); });
  }
  std::ranges::stable_sort(curves, {}, place);
}

}  // namespace hbench
