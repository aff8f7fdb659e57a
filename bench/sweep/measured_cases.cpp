#include "bench/sweep/measured_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "analysis/points/points.hpp"
#include "analysis/points/timed_steps.hpp"
#include "analysis/records/machine_facts.hpp"
#include "analysis/trace/summary.hpp"
#include "bench/hosts/preflight.hpp"
#include "bench/launch/job_outcome.hpp"
#include "bench/launch/process.hpp"
#include "bench/sweep/nodes.hpp"
#include "collectives/base/text.hpp"

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
  CaseResult whole = {};                ///< all rounds
  std::vector<Sample> fresh = {};       ///< of this round
  std::vector<TracedStep> traced = {};  ///< of this round
  int good = 0, lost = 0;
  int launched_as = -1;  ///< its launch of this round; -1 where there is none, or it failed
  bool given_up = false;
  CaseResult failure = {};  ///< why, of the latest launch that failed
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
    const TimedSteps steps = timed_steps({.samples = baseline_->fresh});
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
    CaseResult addition{
        .asked = *member.asked, .samples = std::exchange(member.fresh, {}), .traced = std::exchange(member.traced, {})};
    hooks_.keep(*member.asked, addition);
    std::ranges::move(addition.samples, std::back_inserter(member.whole.samples));
  }

  const TurnLimits& limits_;
  const TurnHooks& hooks_;
  Member* baseline_;
};

/// The planned baseline of a measured case: the one of the same step.
const Case* baseline_of(const Case& asked, const std::vector<PlannedCase>& plan,
                        const std::vector<const Case*>& cases) {
  const std::string question = asked.baseline().question();
  const auto found = std::ranges::find_if(plan, [&](const Case& other) {
    return !other.strategy.communicates() && other.evidence == asked.evidence &&
           other.baseline().question() == question;
  });
  if (found == plan.end()) return nullptr;
  // Where it is measured itself it is that case, and no copy of it.
  const auto own = std::ranges::find(cases, found->asked.key(), [](const Case* each) { return each->key(); });
  return own == cases.end() ? &found->asked : *own;
}

/// One launch at a time; that it failed is said at once, and by the exit code.
class SweepLaunches {
 public:
  SweepLaunches(const MeasureOptions& options, int first, const LaunchFollower& follower)
      : options_(options), first_(first), follower_(follower) {}

  LaunchOutcome launch(const Case& asked, int number) {
    follower_.doing(fmt::format("measuring {}, {}", case_name(asked),
                                number < options_.launches
                                    ? fmt::format("launch {} of {}", number + 1, options_.launches)
                                    : fmt::format("launch {}, once more", number + 1)));
    try {
      LaunchOutcome outcome =
          stopped_ ? lost_launch(ExitCode::lost_rank, first_ + number, "not launched, since a host was lost before")
                   : measure_launch(asked, options_, first_ + number);
      if (outcome.code == ExitCode::lost_rank) look_for_lost_hosts(outcome);
      for (const TracedStep& step : outcome.traced) traced_[&asked].push_back(step);
      if (outcome.code != ExitCode::good) failed(asked, outcome.code, outcome.reason);
      follower_.launched(options_.launch_seconds(), number >= options_.launches);
      return outcome;
    } catch (const Error& error) {
      failed(asked, error.code(), fmt::format("{}; {}", error.what(), error.hint()));
      throw;
    }
  }

  ExitCode worst() const { return worst_; }

  /// Says which rank makes the others wait, if one does again and again, and where it is.
  void name_straggler(const Case& asked) {
    const std::vector<TracedStep> steps = std::exchange(traced_[&asked], {});
    const std::optional<Straggler> straggler = find_straggler(steps);
    if (!straggler) return;
    const int ranks = planned(asked).world(workers_per_node(asked)).ranks();
    follower_.progress.note(
        fmt::format("{}: {}", case_name(asked),
                    with_hosts(straggler->in_words(), places_of(options_.allocation, asked, ranks).host_of_rank)));
  }

 private:
  /// Which hosts no longer answer; they are left out from now on.
  void look_for_lost_hosts(LaunchOutcome& outcome) {
    if (options_.allocation.is_local() || stopped_ || interrupted()) return;
    for (const Finding& lost : lost_hosts(options_.allocation, options_.program, options_.network, options_.host)) {
      outcome.reason += fmt::format("; {} is lost: {}", lost.what, lost.state);
      std::erase_if(options_.allocation.hosts, [&](const AllocatedHost& host) { return host.name == lost.what; });
      stopped_ = stopped_ || options_.stop_on_lost_host || options_.allocation.hosts.empty();
      follower_.progress.note(fmt::format("{} is lost: {}; {}", lost.what, lost.state,
                                          stopped_ ? "nothing more is launched" : "the sweep goes on without it"));
    }
  }

  void failed(const Case& asked, ExitCode code, const std::string& reason) {
    worst_ = std::max(worst_, code);
    follower_.progress.note(fmt::format("failed: {}: {}", case_name(asked), reason));
  }

  MeasureOptions options_;
  std::map<const Case*, std::vector<TracedStep>> traced_;  ///< of cases that are being measured
  bool stopped_ = false;
  int first_;
  const LaunchFollower& follower_;
  ExitCode worst_ = ExitCode::good;
};

}  // namespace

void take_turns(const Case* baseline, const std::vector<const Case*>& cases, const TurnLimits& limits,
                const TurnHooks& hooks) {
  const auto member_of = [](const Case* asked) { return Member{.asked = asked, .whole = {.asked = *asked}}; };
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

std::string case_name(const Case& asked) {
  return fmt::format("{} {} on {}{}", asked.workload, asked.strategy_label(),
                     counted(asked.gpus, asked.training.on_gpu() ? "GPU" : "rank"),
                     asked.nodes > 1 ? fmt::format(" of {} nodes", asked.nodes) : "");
}

ExitCode measure_cases(const std::vector<PlannedCase>& plan, const std::vector<const Case*>& cases,
                       const MeasureOptions& options, int first_launch, const LaunchFollower& follower) {
  std::vector<const Case*> baselines;
  std::map<const Case*, std::vector<const Case*>> by_baseline;
  for (const Case* asked : cases) {
    const Case* baseline = baseline_of(*asked, plan, cases);
    if (std::ranges::find(baselines, baseline) == baselines.end()) baselines.push_back(baseline);
    if (asked != baseline) by_baseline[baseline].push_back(asked);
  }
  SweepLaunches launches(options, first_launch, follower);
  const TurnHooks turns{
      .launch = [&](const Case& asked, int number) { return launches.launch(asked, number); },
      .keep = [&](const Case&, const CaseResult& addition) { follower.keep({addition}); },
      .finished =
          [&](const Case& asked) {
            launches.name_straggler(asked);
            follower.finished(fmt::format("measured {}", case_name(asked)));
          },
      .interrupted = [] { return interrupted(); },
  };
  for (const Case* baseline : baselines) {
    if (interrupted()) break;
    const bool known = std::ranges::find(cases, baseline) == cases.end();
    take_turns(baseline, by_baseline[baseline], {options.launches, options.more, known}, turns);
  }
  return launches.worst();
}

}  // namespace hbench
