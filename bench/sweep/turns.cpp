#include "bench/sweep/turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "analysis/points/points.hpp"
#include "analysis/points/timed_steps.hpp"
#include "analysis/records/machine_load.hpp"

namespace hbench {
namespace {

/// Failures after which a case is given up.
constexpr int kMostLost = 2;
/// An interval that is wider to one side asks for more launches.
constexpr double kWide = 0.1;
constexpr int kFewestForMore = 3;

/// A case, or the baseline, on its way through the rounds.
struct Member {
  const Case* asked = nullptr;
  CaseResult whole;                ///< all rounds
  std::vector<Sample> fresh;       ///< of this round
  std::vector<TracedStep> traced;  ///< of this round
  int good = 0, lost = 0;
  int launched_as = -1;  ///< its launch of this round; -1 where there is none, or it failed
  bool given_up = false;
  CaseResult failure;  ///< why, of the latest launch that failed
};

bool doubtful(const Member& member) {
  const Point point = make_points({member.whole}).front();
  if (!point.warnings.empty()) return true;
  return point.efficiency && point.efficiency_high && *point.efficiency_high > (1 + kWide) * *point.efficiency;
}

class Turns {
 public:
  Turns(const TurnLimits& limits, const TurnHooks& hooks, Member* baseline)
      : limits_(limits), hooks_(hooks), baseline_(baseline) {}

  /// Rounds until nobody wants another one. False when interrupted.
  bool run(std::vector<Member>& cases) {
    for (int round = 0;; ++round) {
      std::vector<Member*> order;
      for (Member& member : cases)
        if (wants_launch(member)) order.push_back(&member);
      if (order.empty() && !lacks_launches(baseline_)) return true;
      if (baseline_ != nullptr && !baseline_->given_up) order.push_back(baseline_);
      if (round % 2 == 1) std::ranges::reverse(order);
      for (Member* member : order) {
        // Without a partner in this round it is worth a launch only for itself.
        const bool alone = member == baseline_ && round % 2 == 0 && std::ranges::none_of(cases, launched);
        if (!alone || lacks_launches(baseline_)) launch(*member);
        if (hooks_.interrupted()) break;
      }
      pair(cases);
      if (baseline_ != nullptr) keep(*baseline_);
      for (Member& member : cases) keep(member);
      if (hooks_.interrupted()) return false;
    }
  }

 private:
  static bool launched(const Member& member) { return member.launched_as >= 0; }
  bool lacks_launches(const Member* member) const {
    if (member == baseline_ && limits_.baseline_is_known) return false;
    return member != nullptr && !member->given_up && member->good < limits_.launches;
  }
  bool wants_launch(const Member& member) const {
    if (lacks_launches(&member)) return true;
    return !member.given_up && limits_.launches >= kFewestForMore && member.good < limits_.launches + limits_.more &&
           doubtful(member);
  }

  void launch(Member& member) {
    const int number = member.good + member.lost;
    try {
      LaunchOutcome outcome = hooks_.launch(*member.asked, number);
      if (hooks_.interrupted()) return;  // what was cut off is no launch
      std::ranges::move(outcome.samples, std::back_inserter(member.fresh));
      std::ranges::move(outcome.traced, std::back_inserter(member.traced));
      if (outcome.code == ExitCode::good) {
        ++member.good;
        member.launched_as = number;
        return;
      }
      ++member.lost;
      member.given_up = member.lost >= std::min(kMostLost, limits_.launches);
      member.failure.failure = outcome.reason;
      member.failure.exit_code = static_cast<int>(outcome.code);
    } catch (const Error& error) {
      member.given_up = true;
      member.failure.failure = fmt::format("{}; {}", error.what(), error.hint());
      member.failure.exit_code = static_cast<int>(error.code());
    }
  }

  /// Gives each launch of the round the steps of the baseline's.
  void pair(std::vector<Member>& cases) const {
    if (baseline_ == nullptr || !launched(*baseline_)) return;
    CaseResult beside;
    beside.samples = baseline_->fresh;
    const TimedSteps steps = timed_steps(beside);
    if (steps.launches.empty()) return;
    for (Member& member : cases) {
      if (!launched(member)) continue;
      int iteration = 0;
      for (const double seconds : steps.launches.back())
        member.fresh.push_back({.launch = member.launched_as,
                                .iteration = iteration++,
                                .metric = std::string(metric::kPairedBaseline),
                                .value = seconds,
                                .unit = "s"});
    }
  }

  /// Hands over the round's samples. Those of failed launches wait for a good one.
  void keep(Member& member) const {
    member.launched_as = -1;
    if (member.good == 0) {
      if (!member.given_up || member.failure.status == CaseStatus::failed) return;
      member.failure.status = CaseStatus::failed;
      member.failure.asked = *member.asked;
      return hooks_.keep(*member.asked, member.failure);
    }
    if (member.fresh.empty()) return;
    CaseResult addition;
    addition.asked = *member.asked;
    addition.samples = std::exchange(member.fresh, {});
    addition.traced = std::exchange(member.traced, {});
    hooks_.keep(*member.asked, addition);
    std::ranges::move(addition.samples, std::back_inserter(member.whole.samples));
  }

  const TurnLimits& limits_;
  const TurnHooks& hooks_;
  Member* baseline_;
};

Member member_of(const Case* asked) {
  Member member;
  member.asked = asked;
  member.whole.asked = *asked;
  return member;
}

}  // namespace

void take_turns(const Case* baseline, const std::vector<const Case*>& cases, const TurnLimits& limits,
                const TurnHooks& hooks) {
  Member alone;
  if (baseline != nullptr) alone = member_of(baseline);
  Turns turns(limits, hooks, baseline != nullptr ? &alone : nullptr);
  const std::size_t blocks = std::max<std::size_t>((cases.size() + kMostBesideABaseline - 1) / kMostBesideABaseline, 1);
  for (std::size_t block = 0; block < blocks; ++block) {
    // Blocks of equal size, to within one.
    std::vector<Member> members;
    for (std::size_t i = block * cases.size() / blocks; i < (block + 1) * cases.size() / blocks; ++i)
      members.push_back(member_of(cases[i]));
    if (!turns.run(members)) return;
    if (block == 0 && baseline != nullptr) hooks.finished(*baseline);
    for (const Member& member : members) hooks.finished(*member.asked);
  }
}

}  // namespace hbench
