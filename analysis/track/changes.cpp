#include "analysis/track/changes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace hbench {
namespace {

/// The deviation of a normal distribution over its median absolute deviation.
constexpr double kDeviation = 1.4826;

/// Values of which the largest, or with `std::greater` the smallest, is at hand.
template <class Order>
class Heap {
 public:
  bool empty() const { return values_.empty(); }
  std::size_t size() const { return values_.size(); }
  double top() const { return values_.front(); }
  double sum() const { return sum_; }
  void push(double value) {
    values_.push_back(value);
    std::push_heap(values_.begin(), values_.end(), Order());
    sum_ += value;
  }
  double pop() {
    std::pop_heap(values_.begin(), values_.end(), Order());
    const double value = values_.back();
    values_.pop_back();
    sum_ -= value;
    return value;
  }

 private:
  std::vector<double> values_;
  double sum_ = 0;
};

/// The sum of absolute deviations from the median of values that are added one by one.
class Spread {
 public:
  void add(double value) {
    if (low_.empty() || value <= low_.top())
      low_.push(value);
    else
      high_.push(value);
    if (low_.size() > high_.size() + 1) high_.push(low_.pop());
    if (high_.size() > low_.size()) low_.push(high_.pop());
  }
  double sum() const {
    const double middle = low_.top();
    return middle * static_cast<double>(low_.size()) - low_.sum() + high_.sum() -
           middle * static_cast<double>(high_.size());
  }

 private:
  Heap<std::less<double>> low_;
  Heap<std::greater<double>> high_;
};

double noise_of(std::span<const double> logarithms) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < logarithms.size(); ++i) steps.push_back(std::abs(logarithms[i] - logarithms[i - 1]));
  return kDeviation * median(std::move(steps)) / std::sqrt(2.0);
}

/// Where levels begin, 0 among them.
std::vector<std::size_t> best_cuts(std::span<const double> values, std::size_t shortest, double penalty) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const std::size_t n = values.size();
  std::vector<double> least(n + 1, kNever);
  std::vector<std::size_t> begin(n + 1, 0);
  least[0] = -penalty;
  for (std::size_t first = 0; first < n; ++first) {
    if (least[first] == kNever) continue;
    Spread spread;
    for (std::size_t end = first + 1; end <= n; ++end) {
      spread.add(values[end - 1]);
      if (end - first < shortest) continue;
      const double cost = least[first] + spread.sum() + penalty;
      if (cost >= least[end]) continue;
      least[end] = cost;
      begin[end] = first;
    }
  }
  std::vector<std::size_t> cuts;
  for (std::size_t end = n; end > 0; end = begin[end]) cuts.push_back(begin[end]);
  std::ranges::reverse(cuts);
  return cuts;
}

/// The levels between cuts, 0 being the first of these.
class Levels {
 public:
  Levels(std::span<const double> values, std::vector<std::size_t> cuts) : values_(values), cuts_(std::move(cuts)) {}

  /// Those of a few bad runs, with a good one among them so that they are long enough, are none.
  void drop_disturbances(std::size_t shortest) {
    for (std::size_t i = 0; i < cuts_.size();) {
      if (cuts_.size() == 1 || support(i) >= shortest) {
        ++i;
        continue;
      }
      join(i == 0 || (i + 1 < cuts_.size() && apart(i + 1) < apart(i)) ? i + 1 : i);
      i = 0;
    }
  }

  void join_near(double least) {
    while (cuts_.size() > 1) {
      std::size_t nearest = 1;
      for (std::size_t i = 2; i < cuts_.size(); ++i)
        if (apart(i) < apart(nearest)) nearest = i;
      if (apart(nearest) >= least) return;
      join(nearest);
    }
  }

  const std::vector<std::size_t>& cuts() const { return cuts_; }

 private:
  std::span<const double> of(std::size_t i) const {
    const std::size_t end = i + 1 < cuts_.size() ? cuts_[i + 1] : values_.size();
    return values_.subspan(cuts_[i], end - cuts_[i]);
  }
  double level(std::size_t i) const { return median({of(i).begin(), of(i).end()}); }
  double apart(std::size_t i) const { return std::abs(level(i) - level(i - 1)); }
  void join(std::size_t i) { cuts_.erase(cuts_.begin() + static_cast<std::ptrdiff_t>(i)); }

  /// How many values are nearer to their level than to its neighbours.
  std::size_t support(std::size_t i) const {
    const double own = level(i);
    std::vector<double> others;
    if (i > 0) others.push_back(level(i - 1));
    if (i + 1 < cuts_.size()) others.push_back(level(i + 1));
    return static_cast<std::size_t>(std::ranges::count_if(of(i), [&](double value) {
      return std::ranges::all_of(others, [&](double other) { return std::abs(value - own) < std::abs(value - other); });
    }));
  }

  std::span<const double> values_;
  std::vector<std::size_t> cuts_;
};

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
double deviation_of_level(Logarithms positions) {
  std::vector<double> distances;
  for (const double each : positions) distances.push_back(std::abs(each));
  return distances.empty() ? 0 : kDeviation * median(std::move(distances));
}

/// A baseline on the way to its level. Runs are logarithms of their medians.
class TrackedLevels {
 public:
  TrackedLevels(std::vector<double> runs, double head, const TrackedCase& tracked, const TrackRule& rule)
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
    level.spread = rule_.spread * deviation_of_level(telling ? Logarithms(level.positions) : Logarithms(others));
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

std::vector<std::size_t> change_points(std::span<const double> values, const ChangeRule& rule) {
  const std::size_t skipped = values.size() > rule.most_runs ? values.size() - rule.most_runs : 0;
  std::vector<double> logarithms;
  for (const double value : values.subspan(skipped)) logarithms.push_back(std::log(value));
  if (logarithms.size() < 2 * rule.shortest) return {};
  // Without any noise every change is one, and rounding is none.
  const double noise = std::max(noise_of(logarithms), 1e-9);
  const double penalty = rule.penalty * noise * std::log(static_cast<double>(logarithms.size()));
  Levels levels(logarithms, best_cuts(logarithms, rule.shortest, penalty));
  levels.drop_disturbances(rule.shortest);
  levels.join_near(std::log1p(rule.least_effect));
  std::vector<std::size_t> cuts(levels.cuts().begin() + 1, levels.cuts().end());
  for (std::size_t& cut : cuts) cut += skipped;
  return cuts;
}

BaselineLevel baseline_level(std::span<const Launch> runs, const Launch& head, const TrackedCase& tracked,
                             const TrackRule& rule) {
  std::vector<double> medians;
  for (const Launch& run : runs) medians.push_back(std::log(median(run)));
  return TrackedLevels(std::move(medians), std::log(median(head)), tracked, rule).choose();
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
