#include "analysis/track/paired.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "analysis/records/words.hpp"
#include "analysis/statistics/rank_test.hpp"

namespace hbench {
namespace {

/// Pairs of which it is no chance that all agree: 1 / 2^5 = 3.1 % of pairs of equal code do. Fewer have no interval.
constexpr int kFewestSuspected = 5;

/// One case on the way to its verdict.
class PairWeighing {
 public:
  PairWeighing(const TrackedCase& tracked, const PairRule& rule, std::size_t cases)
      : tracked_(tracked), rule_(rule), fewest_(fewest_pairs(cases, rule.level)) {
    const Launch none;
    const Launch& base = tracked.baseline.empty() ? none : tracked.baseline.front();
    result_.runs = tracked.baseline.size();
    result_.baseline_launches = base.size();
    result_.head_launches = tracked.head.size();
    if (!result_.compared()) return;
    for (std::size_t i = 0; i < base.size(); ++i) differences_.push_back(std::log(tracked.head[i] / base[i]));
    result_.before = median(base);
    result_.after = median(tracked.head);
    result_.p = signed_rank_test(first());
    result_.shift = std::expm1(middle_difference(differences_));
    const Interval known = difference_interval(differences_, kIntervalLevel);
    result_.interval = {std::expm1(known.low), std::expm1(known.high)};
  }

  /// Whether it takes part in the correction for several questions.
  bool is_asked() const { return result_.compared() && std::ssize(differences_) >= rule_.pairs; }

  double p() const { return result_.p; }

  TrackJudgement judge(double corrected) {
    result_.corrected = corrected;
    if (tracked_.head.empty() && tracked_.baseline.empty())
      result_.decide(TrackVerdict::missing, "neither side has printed it together with the other",
                     "print it in every launch");
    else if (tracked_.head.empty())
      result_.decide(TrackVerdict::missing, "the head does not print it", "measure the same cases on both sides");
    else if (tracked_.baseline.empty())
      result_.decide(TrackVerdict::fresh, "the base does not print it", "");
    else if (!is_asked())
      want_pairs(fmt::format("{} of {} pairs", differences_.size(), rule_.pairs), std::max(rule_.pairs, fewest_));
    else
      weigh();
    return result_;
  }

 private:
  std::span<const double> first() const {
    return std::span(differences_).first(std::min<std::size_t>(differences_.size(), rule_.pairs));
  }
  std::span<const double> further() const { return std::span(differences_).subspan(first().size()); }

  bool is_large(double shift) const { return std::abs(shift) >= rule_.least_effect; }
  bool is_worse(double shift) const { return tracked_.larger_is_worse == (shift > 0); }

  /// Inconclusive until `pairs` are measured; suspected where those that there are leave no doubt but chance.
  void want_pairs(std::string reason, int pairs) {
    const bool relevant = tracked_.larger_is_worse ? result_.interval.low >= rule_.least_effect
                                                   : result_.interval.high <= -rule_.least_effect;
    const bool few = std::ssize(differences_) < fewest_ && std::ssize(differences_) >= kFewestSuspected;
    result_.suspected = relevant && (few || result_.corrected <= kConfirmed);
    result_.decide(TrackVerdict::inconclusive, std::move(reason),
                   fmt::format("measure {} pairs: --launches {}", pairs, pairs));
  }

  void weigh() {
    const double seen = std::expm1(middle_difference(first()));
    if (result_.corrected <= rule_.level && is_large(seen)) return confirm(seen);
    if (is_large(seen) && rule_.pairs < fewest_)
      return want_pairs(fmt::format("{} by {} pairs, of which it takes {} to exclude chance", signed_percent(seen),
                                    rule_.pairs, fewest_),
                        fewest_);
    if (is_large(seen))
      return want_pairs(
          fmt::format("{} may be chance: p {:.2g} over the gate", signed_percent(seen), result_.corrected),
          2 * rule_.pairs);
    const Interval& known = result_.interval;
    const double worst = tracked_.larger_is_worse ? known.high : -known.low;
    if (worst >= rule_.least_effect && known.high - known.low > 2 * rule_.least_effect)
      return want_pairs(fmt::format("pairs scatter too much to see {:.3g} %", 100 * rule_.least_effect),
                        2 * rule_.pairs);
    result_.decide(TrackVerdict::pass, fmt::format("less than {:.3g} % apart", 100 * rule_.least_effect), "");
  }

  /// Once in a while chance passes every test; it seldom does so twice.
  void confirm(double seen) {
    const std::span<const double> again = further();
    const std::string over_gate = fmt::format("p {:.2g} over the gate", result_.corrected);
    if (!rule_.confirm) return conclude(over_gate);
    result_.suspected = is_worse(seen) && std::ssize(again) < kFewestConfirming;
    if (std::ssize(again) < kFewestConfirming)
      return result_.decide(TrackVerdict::inconclusive,
                            fmt::format("{} by {} pairs, and {} of {} pairs that would confirm it",
                                        signed_percent(seen), first().size(), again.size(), kFewestConfirming),
                            fmt::format("measure further pairs: --max-launches {}", rule_.pairs + kFewestConfirming));
    const double shift = std::expm1(middle_difference(again));
    const double p = signed_rank_test(again);
    if (is_worse(shift) == is_worse(seen) && is_large(shift) && p <= kConfirmed)
      return conclude(
          fmt::format("{}, confirmed by {} pairs ({}, p {:.2g})", over_gate, again.size(), signed_percent(shift), p));
    result_.decide(TrackVerdict::inconclusive,
                   fmt::format("{} by {} pairs, and {} by {} further ones", signed_percent(seen), first().size(),
                               signed_percent(shift), again.size()),
                   "look for what disturbed some launches (hbench doctor)");
  }

  void conclude(const std::string& how) {
    const bool worse = is_worse(result_.shift);
    result_.decide(worse ? TrackVerdict::regressed : TrackVerdict::improved,
                   fmt::format("{}, {}", signed_percent(result_.shift), how),
                   worse ? "look at what differs between the two sides" : "");
  }

  const TrackedCase& tracked_;
  const PairRule& rule_;
  int fewest_;
  std::vector<double> differences_;
  TrackJudgement result_;
};

}  // namespace

int fewest_pairs(std::size_t cases, double level) {
  int pairs = 2;
  while (static_cast<double>(std::max<std::size_t>(cases, 1)) * std::ldexp(2, -pairs) > level) pairs += 2;
  return pairs;
}

int default_pairs(std::size_t cases, double level) { return fewest_pairs(cases, level) + 4; }

std::vector<TrackJudgement> judge_pairs(const std::vector<TrackedCase>& gate, const PairRule& rule) {
  const auto cases = static_cast<std::size_t>(std::ranges::count_if(
      gate, [](const TrackedCase& tracked) { return !tracked.baseline.empty() && !tracked.head.empty(); }));
  std::vector<PairWeighing> weighed;
  for (const TrackedCase& tracked : gate) weighed.emplace_back(tracked, rule, cases);
  return judge_together(weighed, std::mem_fn(&PairWeighing::p), std::mem_fn(&PairWeighing::judge));
}

}  // namespace hbench
