#include "analysis/track/levels.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/track/changes.hpp"

namespace hbench {
namespace {

/// The deviation of a normal distribution over its median absolute deviation.
constexpr double kDeviation = 1.4826;
/// The middle of fewer runs is one of them: they do not show how runs differ.
constexpr std::size_t kFewestTelling = 3;

using Logarithms = std::span<const double>;

double middle(Logarithms values) { return median({values.begin(), values.end()}); }

void add_positions(Logarithms level, std::vector<double>& positions) {
  if (level.empty()) return;
  const double own = middle(level);
  for (const double each : level) positions.push_back(each - own);
}

/// Robust against a few that were disturbed.
double deviation(Logarithms positions) {
  std::vector<double> distances;
  for (const double each : positions) distances.push_back(std::abs(each));
  return distances.empty() ? 0 : kDeviation * median(std::move(distances));
}

/// A baseline on the way to its level. Runs are logarithms of their medians.
class Levels {
 public:
  Levels(std::vector<double> runs, double head, const TrackedCase& tracked, const TrackRule& rule)
      : runs_(std::move(runs)), head_(head), tracked_(tracked), rule_(rule) {
    std::vector<double> medians;
    for (const Launch& run : tracked.earlier) medians.push_back(std::log(median(run)));
    add_positions(medians, earlier_);
  }

  BaselineLevel choose() const {
    BaselineLevel whole = described({.begin = 0, .end = runs_.size()}, {});
    if (const auto cut = by_history()) return *cut;
    const double head = head_ - middle(runs_);
    if (std::abs(head) < bound(whole)) return whole;
    std::vector<std::size_t> far = runs_as_far(Logarithms(whole.positions).first(runs_.size()), head, bound(whole));
    std::ranges::sort(far);
    // All of the newest, and none before: since then.
    if (far.empty() || far.front() == 0 || far.front() + far.size() != runs_.size()) return whole;
    return described({.begin = 0, .end = far.front(), .since = far.front()}, {far.front()});
  }

 private:
  double bound(const BaselineLevel& level) const { return std::max(std::log1p(rule_.least_effect), level.spread); }

  Logarithms part(std::size_t begin, std::size_t end) const { return Logarithms(runs_).subspan(begin, end - begin); }

  /// Fills in what the runs tell, of which new levels begin at `cuts`.
  BaselineLevel described(BaselineLevel level, std::vector<std::size_t> cuts) const {
    add_positions(part(level.begin, level.end), level.positions);
    std::vector<double> others = earlier_;
    cuts.insert(cuts.begin(), 0);
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const std::size_t end = i + 1 < cuts.size() ? cuts[i + 1] : runs_.size();
      if (cuts[i] != level.begin && end - cuts[i] >= kFewestTelling) add_positions(part(cuts[i], end), others);
    }
    const bool telling = level.positions.size() >= kFewestTelling || others.empty();
    level.positions.insert(level.positions.end(), others.begin(), others.end());
    level.spread = rule_.spread * deviation(telling ? Logarithms(level.positions) : Logarithms(others));
    return level;
  }

  /// Where the series changes for good, and cleanly.
  std::optional<BaselineLevel> by_history() const {
    std::vector<double> values;
    for (const double each : runs_) values.push_back(std::exp(each));
    values.push_back(std::exp(head_));
    const std::vector<std::size_t> cuts = change_points(values, {.least_effect = rule_.least_effect});
    if (cuts.empty() || cuts.back() >= runs_.size()) return std::nullopt;
    const std::size_t newest = cuts.back(), before = cuts.size() > 1 ? cuts[cuts.size() - 2] : 0;
    const double step = middle(part(newest, runs_.size())) - middle(part(before, newest));
    const bool worse = tracked_.larger_is_worse == (step > 0);
    const BaselineLevel level = worse ? described({.begin = before, .end = newest, .since = newest}, cuts)
                                      : described({.begin = newest, .end = runs_.size()}, cuts);
    const auto apart = [&](std::size_t begin, std::size_t end, double own, double other) {
      std::vector<double> positions;
      for (const double each : part(begin, end)) positions.push_back(each - own);
      return runs_as_far(positions, other - own, bound(level)).empty();
    };
    const double old = middle(part(before, newest));
    const bool clean = std::abs(step) >= bound(level) && apart(0, newest, old, old + step) &&
                       apart(newest, runs_.size(), old + step, old);
    return clean ? std::optional(level) : std::nullopt;
  }

  std::vector<double> runs_;
  double head_;
  const TrackedCase& tracked_;
  const TrackRule& rule_;
  std::vector<double> earlier_;  ///< positions
};

}  // namespace

BaselineLevel baseline_level(std::span<const Launch> runs, const Launch& head, const TrackedCase& tracked,
                             const TrackRule& rule) {
  std::vector<double> medians;
  for (const Launch& run : runs) medians.push_back(std::log(median(run)));
  return Levels(std::move(medians), std::log(median(head)), tracked, rule).choose();
}

std::vector<std::size_t> runs_as_far(std::span<const double> positions, double head, double bound) {
  const double sign = head < 0 ? -1 : 1;
  const auto distance = [&](std::size_t i) { return sign * positions[i]; };
  std::vector<std::size_t> far;
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (distance(i) >= bound) far.push_back(i);
  std::ranges::sort(far, {}, distance);
  for (auto begin = far.begin(); begin != far.end();) {
    auto end = begin + 1;
    while (end != far.end() && distance(*end) - distance(*(end - 1)) <= distance(*(end - 1))) ++end;
    if (sign * head >= distance(*begin) - bound / 2 && sign * head <= distance(*(end - 1)) + bound) return {begin, end};
    begin = end;
  }
  return {};
}

}  // namespace hbench
