#include "analysis/track/judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "analysis/records/words.hpp"

namespace hbench {
namespace {

/// More of a head are not asked for.
constexpr std::size_t kMostLaunches = 100;

std::vector<double> pooled(std::span<const Launch> runs) {
  std::vector<double> values;
  for (const Launch& run : runs) values.insert(values.end(), run.begin(), run.end());
  return values;
}

/// The least p of a rank test: all values of one side are beyond all of the other.
double least_p(std::size_t few, std::size_t many) {
  double p = 2;
  for (std::size_t i = 1; i <= few; ++i) p *= static_cast<double>(i) / static_cast<double>(many + i);
  return p;
}

/// `run 6`, `runs 3, 8, 13 and 2 more`.
std::string runs_text(std::vector<std::int64_t> runs) {
  constexpr std::size_t kShown = 4;
  std::ranges::sort(runs);
  const std::span<const std::int64_t> shown = std::span(runs).first(std::min(runs.size(), kShown));
  const std::size_t more = runs.size() - shown.size();
  return fmt::format("run{} {}{}", runs.size() == 1 ? "" : "s", fmt::join(shown, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

/// One case's baseline and head: which of their launches count, and how far apart they are. Both arguments outlive it.
struct Sides {
  Sides(const TrackedCase& both, const TrackRule& by)
      : tracked(both),
        rule(by),
        runs(std::span(tracked.baseline).last(std::min<std::size_t>(tracked.baseline.size(), rule.most_runs))) {
    figures.head_launches = tracked.head.size();
    figures.runs = runs.size();
    figures.baseline_launches = pooled(runs).size();
    if (!figures.compared()) return;
    deciding = std::span(tracked.head).first(deciding_launches(tracked.head.size(), rule));
    level = baseline_level(runs, {deciding.begin(), deciding.end()}, tracked, rule);
    launches = pooled(runs.subspan(level.begin, level.end - level.begin));
    figures.runs = level.end - level.begin;
    figures.baseline_launches = launches.size();
    figures.before = median(launches);
    figures.after = median(tracked.head);
    figures.p = rank_test(launches, deciding);
    figures.shift = relative_shift(launches, tracked.head);
    figures.interval = shift_interval(launches, tracked.head, kIntervalLevel);
    figures.resolution = std::expm1(level.spread);
    seen = relative_shift(launches, deciding);
  }

  std::ptrdiff_t known_runs() const { return std::ssize(runs) + std::ssize(tracked.earlier); }
  /// Whether it takes part in the correction for several questions.
  bool is_asked() const {
    return figures.compared() && known_runs() >= rule.fewest_runs && std::ssize(tracked.head) >= rule.launches;
  }
  /// What is known of one of `runs`.
  BaselineRun known(std::size_t run) const {
    const std::size_t at = tracked.baseline.size() - runs.size() + run;
    return at < tracked.known.size() ? tracked.known[at] : BaselineRun{static_cast<std::int64_t>(at + 1)};
  }

  double bound() const { return std::max(rule.least_effect, figures.resolution); }
  bool is_large(double shift) const { return std::abs(shift) >= bound(); }
  bool is_worse(double shift) const { return tracked.larger_is_worse == (shift > 0); }
  bool is_surely_relevant() const {
    return figures.interval.low >= rule.least_effect || figures.interval.high <= -rule.least_effect;
  }
  /// Whether further launches show what was seen.
  bool is_found_again(std::span<const double> again) const {
    const double shift = relative_shift(launches, again);
    return is_worse(shift) == is_worse(seen) && is_large(shift) && rank_test(launches, again) <= kConfirmed;
  }

  const TrackedCase& tracked;
  const TrackRule& rule;
  std::span<const Launch> runs;      ///< of the baseline, the newest
  std::span<const double> deciding;  ///< launches of the head
  BaselineLevel level;               ///< of the runs
  std::vector<double> launches;      ///< of the runs of the level
  double seen = 0;                   ///< the shift by the deciding launches
  TrackJudgement figures;            ///< without a verdict
};

/// One case on the way to its verdict.
class Weighing {
 public:
  /// \param corrected p over the gate
  Weighing(const Sides& sides, double corrected)
      : sides_(sides), tracked_(sides.tracked), rule_(sides.rule), seen_(sides.seen), result_(sides.figures) {
    result_.corrected = corrected;
  }

  TrackJudgement judge() {
    const std::ptrdiff_t known_runs = sides_.known_runs();
    if (tracked_.head.empty() && tracked_.baseline.empty())
      result_.decide(TrackVerdict::missing, "neither side has a launch", "measure it");
    else if (tracked_.head.empty())
      result_.decide(TrackVerdict::missing, "the head has no timed launch of it",
                     "measure it, or take it out of what is tracked");
    else if (tracked_.baseline.empty())
      result_.decide(TrackVerdict::fresh, "the baseline has no timed launch of it", "");
    else if (known_runs < rule_.fewest_runs)
      result_.decide(TrackVerdict::inconclusive,
                     fmt::format("{} of {} runs of the baseline", known_runs, rule_.fewest_runs),
                     "measure the baseline in more runs");
    else if (std::ssize(tracked_.head) < rule_.launches)
      want_the_first();
    else
      weigh();
    return result_;
  }

 private:
  void weigh() {
    const bool unlikely = result_.corrected <= rule_.level;
    if (unlikely && sides_.is_large(seen_)) {
      if (!is_excused()) confirm();
      return;
    }
    if (std::abs(seen_) >= rule_.least_effect && !sides_.is_large(seen_) && (unlikely || sides_.is_surely_relevant()))
      return result_.decide(TrackVerdict::inconclusive,
                            fmt::format("{}, and runs of the baseline differ by {:.2g} % among themselves",
                                        signed_percent(seen_), 100 * result_.resolution),
                            "hold neighbours to each other (hbench track pair), or measure on a quieter machine");
    if (sides_.is_large(seen_) && result_.p <= kConfirmed)
      return want_launches(
          fmt::format("{} may be chance: p {:.2g} over the gate", signed_percent(seen_), result_.corrected), telling());
    const Interval& known = result_.interval;
    const double worst = tracked_.larger_is_worse ? known.high : -known.low;
    if (sides_.is_large(seen_) || (worst >= rule_.least_effect && known.high - known.low > 2 * rule_.least_effect))
      return result_.decide(TrackVerdict::inconclusive,
                            fmt::format("launches scatter too much to see {:.3g} %", 100 * rule_.least_effect),
                            more_launches());
    const bool small = std::abs(seen_) < rule_.least_effect;
    result_.decide(
        TrackVerdict::pass,
        small ? fmt::format("less than {:.3g} % apart", 100 * rule_.least_effect)
              : fmt::format("runs of the baseline differ by {:.2g} % among themselves", 100 * result_.resolution),
        "");
  }

  /// The launches of the head that could tell what was seen from chance, over the gate; more than it has.
  int telling() const {
    const double factor = result_.corrected / result_.p;
    std::size_t launches = 2 * sides_.deciding.size();
    while (factor * least_p(launches, sides_.launches.size()) > rule_.level && launches < kMostLaunches) ++launches;
    return static_cast<int>(launches);
  }

  void want_the_first() {
    want_launches(fmt::format("{} of {} launches", tracked_.head.size(), rule_.launches), rule_.launches);
    if (result_.suspected) result_.wanted = rule_.launches + rule_.confirming - static_cast<int>(tracked_.head.size());
  }

  /// Inconclusive until the head has `deciding` launches.
  void want_launches(std::string reason, int deciding) {
    if (std::abs(seen_) >= rule_.least_effect && sides_.is_large(seen_) && sides_.is_surely_relevant()) {
      if (is_excused()) return;
      result_.suspected = sides_.is_worse(seen_);
    }
    std::string next = fmt::format("measure {} launches", deciding + (result_.suspected ? rule_.confirming : 0));
    result_.decide(TrackVerdict::inconclusive, std::move(reason), std::move(next));
  }

  /// The interval of a shift narrows with the root of the number of launches.
  std::string more_launches() const {
    const double ratio = (result_.interval.high - result_.interval.low) / (2 * rule_.least_effect);
    const double needed = std::ceil(static_cast<double>(tracked_.head.size()) * ratio * ratio);
    if (ratio > 1 && needed <= kMostLaunches)
      return fmt::format("measure about {:.0f} launches of each run, or on a quieter machine", needed);
    return "measure on a quieter machine";
  }

  /// Decides where what was seen is no change of the code: the head's own code was not so before, or other runs were.
  bool is_excused() { return is_of_equal_code() || was_so_before(); }

  bool is_of_equal_code() {
    const double bound = std::log1p(sides_.bound());
    std::vector<std::int64_t> equal;
    for (std::size_t i = sides_.level.begin; i < sides_.level.end; ++i)
      if (sides_.known(i).equal_code && std::abs(sides_.level.positions[i - sides_.level.begin]) < bound)
        equal.push_back(sides_.known(i).run);
    if (equal.empty()) return false;
    bool all = true;
    for (std::size_t i = 0; i < sides_.runs.size(); ++i) all = all && sides_.known(i).equal_code;
    result_.decide(TrackVerdict::inconclusive,
                   fmt::format("{}, and {} measured the same commit: equal code has not changed, the machine has",
                               signed_percent(seen_), all ? "all runs of the baseline" : runs_text(std::move(equal))),
                   "find out what has changed on the machine (hbench doctor)");
    return true;
  }

  /// The baseline has a second state, which widens its resolution.
  bool was_so_before() {
    const double bound = std::log1p(sides_.bound());
    const double head = std::log1p(seen_);
    const std::vector<std::size_t> far = runs_as_far(sides_.level.positions, head, bound);
    if (far.empty()) return false;
    std::vector<std::int64_t> runs;
    for (const std::size_t i : far)
      if (i < sides_.level.end - sides_.level.begin) runs.push_back(sides_.known(sides_.level.begin + i).run);
    result_.resolution = std::max(result_.resolution, std::expm1(std::abs(sides_.level.positions[far.back()]) + bound));
    result_.decide(TrackVerdict::inconclusive,
                   fmt::format("{}, and {} of {} earlier runs {} as {}{}: the machine has two states",
                               signed_percent(seen_), far.size(), sides_.level.positions.size(),
                               far.size() == 1 ? "was" : "were", sides_.is_worse(seen_) ? "slow" : "fast",
                               runs.empty() ? "" : fmt::format(" ({})", runs_text(std::move(runs)))),
                   "hold neighbours to each other (hbench track pair), or find what the slow state is (hbench doctor)");
    return true;
  }

  /// Once in a while chance passes every test; it seldom does so twice.
  void confirm() {
    const std::string over_gate = fmt::format("p {:.2g} over the gate", result_.corrected);
    if (sides_.level.since) result_.since = sides_.known(*sides_.level.since).run;
    if (rule_.confirming == 0) return conclude(over_gate);
    const std::span<const Launch> newer = sides_.runs.subspan(sides_.level.since.value_or(sides_.runs.size()));
    if (newer.size() >= ChangeRule().shortest && sides_.is_found_again(pooled(newer)))
      return conclude(fmt::format("{}, confirmed by {} runs", over_gate, newer.size()));
    const std::span<const double> again = std::span(tracked_.head).subspan(sides_.deciding.size());
    result_.wanted = std::max(0, rule_.confirming - static_cast<int>(again.size()));
    result_.suspected = sides_.is_worse(seen_) && (result_.wanted > 0 || sides_.is_surely_relevant());
    if (result_.wanted > 0)
      return result_.decide(TrackVerdict::inconclusive,
                            fmt::format("{} by {} launches, and {} of {} launches that would confirm it",
                                        signed_percent(seen_), sides_.deciding.size(), again.size(), rule_.confirming),
                            fmt::format("measure {} further launches, {} in all", result_.wanted,
                                        tracked_.head.size() + static_cast<std::size_t>(result_.wanted)));
    const double shift = relative_shift(sides_.launches, again);
    if (sides_.is_found_again(again))
      return conclude(fmt::format("{}, confirmed by {} launches ({}, p {:.2g})", over_gate, again.size(),
                                  signed_percent(shift), rank_test(sides_.launches, again)));
    result_.decide(TrackVerdict::inconclusive,
                   fmt::format("{} by {} launches, and {} by {} further ones", signed_percent(seen_),
                               sides_.deciding.size(), signed_percent(shift), again.size()),
                   "look for what disturbed some launches (hbench doctor)");
  }

  void conclude(const std::string& how) {
    result_.suspected = false;
    const bool before = result_.since > 0;
    const std::string what = fmt::format("{}{}, {}", signed_percent(result_.shift),
                                         before ? fmt::format(" since run {}", result_.since) : "", how);
    const std::string accept = fmt::format("hbench track accept{}", before ? fmt::format(" {}", result_.since) : "");
    if (sides_.is_worse(seen_))
      return result_.decide(TrackVerdict::regressed, what,
                            fmt::format("hbench track bisect, or {} where it is wanted", accept));
    result_.decide(TrackVerdict::improved, what, accept + ", so that it becomes what others are held to");
  }

  const Sides& sides_;
  const TrackedCase& tracked_;
  const TrackRule& rule_;
  const double seen_;
  TrackJudgement result_;
};

}  // namespace

std::size_t deciding_launches(std::size_t launches, const TrackRule& rule) {
  const auto least = static_cast<std::size_t>(rule.launches), confirming = static_cast<std::size_t>(rule.confirming);
  return std::min(launches, std::max(least, launches > confirming ? launches - confirming : 0));
}

std::string_view to_string(TrackVerdict verdict) {
  constexpr std::array<std::string_view, 7> kNames{"pass",    "improved", "regressed",   "inconclusive",
                                                   "missing", "new",      "incomparable"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

std::vector<TrackJudgement> judge(const std::vector<TrackedCase>& gate, const TrackRule& rule) {
  std::vector<Sides> compared;
  for (const TrackedCase& tracked : gate) compared.emplace_back(tracked, rule);
  return judge_together(
      compared, [](const Sides& sides) { return sides.figures.p; },
      [](const Sides& sides, double corrected) { return Weighing(sides, corrected).judge(); });
}

}  // namespace hbench
