#include <algorithm>
#include <map>

#include "reports/scaling/series.hpp"

namespace hbench {
namespace {

constexpr std::size_t kShownNetworks = 6;
/// With no more curves than this none needs hiding.
constexpr std::size_t kFewCurves = 8;

using Names = std::vector<std::string>;

bool contains(const Names& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

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
