#include "analysis/track/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "analysis/rank_test.hpp"

namespace hbench {
namespace {

/// Of the interval that is printed, and of the test that confirms: one further set of launches is one question.
constexpr double kIntervalLevel = 0.95;
constexpr double kConfirmed = 0.05;
/// The deviation of a normal distribution over its median absolute deviation.
constexpr double kDeviation = 1.4826;

std::vector<double> pooled(std::span<const Launch> runs) {
  std::vector<double> values;
  for (const Launch& run : runs) values.insert(values.end(), run.begin(), run.end());
  return values;
}

/// The newest runs that count.
std::span<const Launch> runs_of(const TrackedCase& tracked, const TrackRule& rule) {
  const auto all = static_cast<std::ptrdiff_t>(tracked.baseline.size());
  const std::ptrdiff_t kept = std::min<std::ptrdiff_t>(all, rule.most_runs);
  return std::span(tracked.baseline).last(static_cast<std::size_t>(kept));
}

/// How far the medians of runs are from the middle one, on logarithms.
void add_distances(std::span<const Launch> runs, std::vector<double>& distances) {
  std::vector<double> medians;
  for (const Launch& run : runs) medians.push_back(std::log(median(run)));
  if (medians.empty()) return;
  const double middle = median(medians);
  for (const double each : medians) distances.push_back(std::abs(each - middle));
}

/// By how much runs of one level differ; robust against a few that were disturbed. A level of fewer runs than two
/// others is not asked: its middle is one of them.
double spread_of(std::span<const Launch> runs, std::span<const Launch> earlier) {
  constexpr std::size_t kLevel = 3;
  std::vector<double> distances;
  if (runs.size() >= kLevel || earlier.empty()) add_distances(runs, distances);
  add_distances(earlier, distances);
  return kDeviation * median(std::move(distances));
}

std::string percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

/// One case on the way to its verdict.
class Weighing {
 public:
  Weighing(const TrackedCase& tracked, const TrackRule& rule)
      : tracked_(tracked), rule_(rule), runs_(runs_of(tracked, rule)), baseline_(pooled(runs_)) {
    result_.runs = runs_.size();
    result_.baseline_launches = baseline_.size();
    result_.head_launches = tracked.head.size();
    if (!result_.compared()) return;
    result_.before = median(baseline_);
    result_.after = median(tracked.head);
    result_.p = rank_test(baseline_, first());
    result_.shift = relative_shift(baseline_, tracked.head);
    result_.interval = shift_interval(baseline_, tracked.head, kIntervalLevel);
    result_.resolution = std::expm1(rule.spread * spread_of(runs_, tracked.earlier));
  }

  /// Whether it takes part in the correction for several questions.
  bool is_asked() const {
    return result_.compared() && known_runs() >= rule_.fewest_runs && std::ssize(tracked_.head) >= rule_.launches;
  }

  double p() const { return result_.p; }

  TrackJudgement judge(double corrected) {
    result_.corrected = corrected;
    if (tracked_.head.empty() && tracked_.baseline.empty())
      decide(TrackVerdict::missing, "neither side has a launch", "measure it");
    else if (tracked_.head.empty())
      decide(TrackVerdict::missing, "the head has not measured it", "measure it, or take it out of what is tracked");
    else if (tracked_.baseline.empty())
      decide(TrackVerdict::fresh, "the baseline does not have it", "");
    else if (known_runs() < rule_.fewest_runs)
      decide(TrackVerdict::inconclusive, fmt::format("{} of {} runs of the baseline", known_runs(), rule_.fewest_runs),
             "measure the baseline in more runs");
    else if (std::ssize(tracked_.head) < rule_.launches)
      decide(TrackVerdict::inconclusive, fmt::format("{} of {} launches", tracked_.head.size(), rule_.launches),
             fmt::format("measure {} launches", rule_.launches));
    else
      weigh();
    return result_;
  }

 private:
  std::span<const double> first() const {
    return std::span(tracked_.head).first(std::min<std::size_t>(tracked_.head.size(), rule_.launches));
  }
  std::span<const double> further() const { return std::span(tracked_.head).subspan(first().size()); }

  std::ptrdiff_t known_runs() const { return std::ssize(runs_) + std::ssize(tracked_.earlier); }

  void decide(TrackVerdict verdict, std::string reason, std::string next_step) {
    result_.verdict = verdict;
    result_.reason = std::move(reason);
    result_.next_step = std::move(next_step);
  }

  bool is_large(double shift) const { return std::abs(shift) >= std::max(rule_.least_effect, result_.resolution); }
  bool is_worse(double shift) const { return tracked_.larger_is_worse == (shift > 0); }

  void weigh() {
    const double seen = relative_shift(baseline_, first());
    const bool unlikely = result_.corrected <= rule_.level;
    if (unlikely && is_large(seen)) return is_worse(seen) ? confirm(seen) : improve();
    if (unlikely && std::abs(seen) >= rule_.least_effect)
      return decide(TrackVerdict::inconclusive,
                    fmt::format("{}, and runs of the baseline differ by {:.2g} % among themselves", percent(seen),
                                100 * result_.resolution),
                    "hold neighbours to each other (hbench track pair), or measure on a quieter machine");
    if (is_large(seen) && result_.p <= kConfirmed)
      return decide(TrackVerdict::inconclusive,
                    fmt::format("{} may be chance: p {:.2g} over the gate", percent(seen), result_.corrected),
                    "measure more launches");
    const Interval& known = result_.interval;
    const double worst = tracked_.larger_is_worse ? known.high : -known.low;
    if (is_large(seen) || (worst >= rule_.least_effect && known.high - known.low > 2 * rule_.least_effect))
      return decide(TrackVerdict::inconclusive,
                    fmt::format("launches scatter too much to see {:.3g} %", 100 * rule_.least_effect),
                    more_launches());
    const bool small = std::abs(seen) < rule_.least_effect;
    decide(TrackVerdict::pass,
           small ? fmt::format("less than {:.3g} % apart", 100 * rule_.least_effect)
                 : fmt::format("runs of the baseline differ by {:.2g} % among themselves", 100 * result_.resolution),
           "");
  }

  /// The interval of a shift narrows with the root of the number of launches.
  std::string more_launches() const {
    constexpr double kMost = 100;
    const double ratio = (result_.interval.high - result_.interval.low) / (2 * rule_.least_effect);
    const double needed = std::ceil(static_cast<double>(tracked_.head.size()) * ratio * ratio);
    if (ratio > 1 && needed <= kMost)
      return fmt::format("measure about {:.0f} launches of each run, or on a quieter machine", needed);
    return "measure on a quieter machine";
  }

  void improve() {
    decide(TrackVerdict::improved, fmt::format("{}, p {:.2g} over the gate", percent(result_.shift), result_.corrected),
           "hbench track accept, so that it becomes what others are held to");
  }

  /// Once in a while chance passes every test; it seldom does so twice.
  void confirm(double seen) {
    const std::span<const double> again = further();
    if (rule_.confirming == 0) return regress(fmt::format("p {:.2g} over the gate", result_.corrected));
    result_.wanted = std::max(0, rule_.confirming - static_cast<int>(again.size()));
    if (result_.wanted > 0)
      return decide(TrackVerdict::inconclusive,
                    fmt::format("{} by {} launches, and {} of {} launches that would confirm it", percent(seen),
                                first().size(), again.size(), rule_.confirming),
                    fmt::format("measure {} further launches", result_.wanted));
    const double shift = relative_shift(baseline_, again);
    const double p = rank_test(baseline_, again);
    if (is_worse(shift) && is_large(shift) && p <= kConfirmed)
      return regress(fmt::format("p {:.2g} over the gate, confirmed by {} launches ({}, p {:.2g})", result_.corrected,
                                 again.size(), percent(shift), p));
    decide(TrackVerdict::inconclusive,
           fmt::format("{} by {} launches, and {} by {} further ones", percent(seen), first().size(), percent(shift),
                       again.size()),
           "look for what disturbed some launches (hbench doctor)");
  }

  void regress(const std::string& how) {
    decide(TrackVerdict::regressed, fmt::format("{}, {}", percent(result_.shift), how),
           "find the commit, or hbench track accept where it is wanted");
  }

  const TrackedCase& tracked_;
  const TrackRule& rule_;
  std::span<const Launch> runs_;
  std::vector<double> baseline_;
  TrackJudgement result_;
};

}  // namespace

std::string_view to_string(TrackVerdict verdict) {
  switch (verdict) {
    case TrackVerdict::pass:
      return "pass";
    case TrackVerdict::improved:
      return "improved";
    case TrackVerdict::regressed:
      return "regressed";
    case TrackVerdict::inconclusive:
      return "inconclusive";
    case TrackVerdict::missing:
      return "missing";
    case TrackVerdict::fresh:
      return "new";
    case TrackVerdict::incomparable:
      break;
  }
  return "incomparable";
}

std::vector<TrackJudgement> judge(const std::vector<TrackedCase>& gate, const TrackRule& rule) {
  std::vector<Weighing> weighed;
  std::vector<double> p_values;
  for (const TrackedCase& tracked : gate) {
    weighed.emplace_back(tracked, rule);
    if (weighed.back().is_asked()) p_values.push_back(weighed.back().p());
  }
  const std::vector<double> corrected = holm_corrected(p_values);
  std::vector<TrackJudgement> judgements;
  std::size_t asked = 0;
  for (Weighing& each : weighed) judgements.push_back(each.judge(each.is_asked() ? corrected[asked++] : 1));
  return judgements;
}

}  // namespace hbench
