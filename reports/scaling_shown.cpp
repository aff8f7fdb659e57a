#include <algorithm>
#include <map>

#include "reports/scaling_series.hpp"

namespace hbench {
namespace {

constexpr std::size_t kTellingNetworks = 3;
/// With no more curves than this none needs hiding.
constexpr std::size_t kFewCurves = 8;

using Names = std::vector<std::string>;

bool contains(const Names& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

bool is_published(const Curve& curve) { return curve.series.mark == Mark::published; }

bool is_timed(const Curve& curve) { return curve.series.mark == Mark::measured || curve.series.mark == Mark::emulated; }

/// Names in the order of their first use among the curves that are not published.
Names names_of(const std::vector<Curve>& curves, auto name) {
  Names names;
  for (const Curve& curve : curves)
    if (!is_published(curve) && !contains(names, name(curve))) names.push_back(name(curve));
  return names;
}

std::string profile_of(const Curve& curve) { return curve.asked().profile; }
std::string label_of(const Curve& curve) { return curve.asked().strategy.label(); }

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

void want(Names& profiles, Names& labels, const Headline& headline) {
  for (const Point* point : {headline.best, headline.elsewhere})
    if (point) profiles.push_back(point->asked.profile);
  for (const Point* point : {headline.best, headline.worst})
    if (point) labels.push_back(point->asked.strategy.label());
}

/// What is published of lines that are shown.
void show_published(std::vector<Curve>& curves, const Names& profiles) {
  const auto has_line = [&](const Curve& published) {
    return std::ranges::any_of(curves, [&](const Curve& line) {
      return !is_published(line) && line.series.shown && line.series.group == published.series.group &&
             line.asked().strategy.overlap == published.asked().strategy.overlap;
    });
  };
  for (Curve& curve : curves)
    if (is_published(curve)) curve.series.shown = contains(profiles, profile_of(curve)) && has_line(curve);
}

/// The report's headline comes first, so that all charts show the same lines where they can.
void show_few(std::vector<Curve>& curves, const Scaling& scaling, const Headline& own) {
  Names profiles, labels;
  want(profiles, labels, *scaling.headline);
  profiles.push_back(most_published(curves));
  want(profiles, labels, own);
  const Names all_profiles = names_of(curves, profile_of);
  profiles.insert(profiles.end(), all_profiles.begin(), all_profiles.end());
  profiles = first_known(profiles, all_profiles, kTellingNetworks);
  labels = first_known(labels, names_of(curves, label_of), 2);
  for (Curve& curve : curves)
    curve.series.shown = is_timed(curve) || (!is_published(curve) && contains(profiles, profile_of(curve)) &&
                                             contains(labels, label_of(curve)));
  show_published(curves, profiles);
}

/// In the legend: what is shown, then the rest; in either, lines before single marks.
int place(const Curve& curve) { return (curve.series.shown ? 0 : 2) + (is_published(curve) ? 1 : 0); }

}  // namespace

void choose_shown(std::vector<Curve>& curves, const Scaling& scaling) {
  if (curves.empty()) return;
  const auto lines = curves.size() - static_cast<std::size_t>(std::ranges::count_if(curves, is_published));
  if (const auto own = find_headline(scaling.input.points, subject_of(curves.front().asked()));
      own && lines > kFewCurves)
    show_few(curves, scaling, *own);
  std::ranges::stable_sort(curves, {}, place);
}

}  // namespace hbench
