#include "bench/sweep/measured_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/records/rank_hosts.hpp"
#include "analysis/trace/stragglers.hpp"
#include "bench/hosts/preflight.hpp"
#include "bench/launch/job_outcome.hpp"
#include "bench/launch/process.hpp"
#include "bench/sweep/nodes.hpp"
#include "bench/sweep/turns.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// The planned baseline of a measured case: the one of the same step.
const Case* baseline_of(const Case& asked, const std::vector<Case>& planned, const std::vector<const Case*>& cases) {
  const std::string question = asked.baseline().question();
  const auto found = std::ranges::find_if(planned, [&](const Case& other) {
    return !other.strategy.communicates() && other.evidence == asked.evidence &&
           other.baseline().question() == question;
  });
  if (found == planned.end()) return nullptr;
  // Where it is measured itself it is that case, and no copy of it.
  const auto own = std::ranges::find(cases, found->key(), [](const Case* each) { return each->key(); });
  return own == cases.end() ? &*found : *own;
}

/// One launch at a time; that it failed is said at once, and by the exit code.
class Launches {
 public:
  Launches(const MeasureOptions& options, int first, const MeasuredHooks& hooks)
      : options_(options), first_(first), hooks_(hooks) {}

  LaunchOutcome launch(const Case& asked, int number) {
    hooks_.doing(fmt::format("measuring {}, {}", case_name(asked),
                             number < options_.launches ? fmt::format("launch {} of {}", number + 1, options_.launches)
                                                        : fmt::format("launch {}, once more", number + 1)));
    try {
      LaunchOutcome outcome =
          stopped_ ? lost_launch(ExitCode::lost_rank, first_ + number, "not launched, since a host was lost before")
                   : measure_launch(asked, options_, first_ + number);
      if (outcome.code == ExitCode::lost_rank) look_for_lost_hosts(outcome);
      for (const TracedStep& step : outcome.traced) traced_[&asked].push_back(step);
      if (outcome.code != ExitCode::good) failed(asked, outcome.code, outcome.reason);
      hooks_.launched(number >= options_.launches);
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
    const int ranks = parse_strategy(asked).world(asked.workers(), workers_per_node(asked)).ranks();
    hooks_.note(
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
      hooks_.note(fmt::format("{} is lost: {}; {}", lost.what, lost.state,
                              stopped_ ? "nothing more is launched" : "the sweep goes on without it"));
    }
  }

  void failed(const Case& asked, ExitCode code, const std::string& reason) {
    worst_ = std::max(worst_, code);
    hooks_.note(fmt::format("failed: {}: {}", case_name(asked), reason));
  }

  MeasureOptions options_;
  std::map<const Case*, std::vector<TracedStep>> traced_;  ///< of cases that are being measured
  bool stopped_ = false;
  int first_;
  const MeasuredHooks& hooks_;
  ExitCode worst_ = ExitCode::good;
};

}  // namespace

std::string case_name(const Case& asked) {
  return fmt::format("{} {} on {}{}", asked.workload, asked.strategy_label(),
                     counted(asked.gpus, asked.training.on_gpu() ? "GPU" : "rank"),
                     asked.nodes > 1 ? fmt::format(" of {} nodes", asked.nodes) : "");
}

ExitCode measure_cases(const std::vector<Case>& planned, const std::vector<const Case*>& cases,
                       const MeasureOptions& options, int first_launch, const MeasuredHooks& hooks) {
  std::vector<const Case*> baselines;
  std::map<const Case*, std::vector<const Case*>> by_baseline;
  for (const Case* asked : cases) {
    const Case* baseline = baseline_of(*asked, planned, cases);
    if (std::ranges::find(baselines, baseline) == baselines.end()) baselines.push_back(baseline);
    if (asked != baseline) by_baseline[baseline].push_back(asked);
  }
  Launches launches(options, first_launch, hooks);
  const TurnHooks turns{
      .launch = [&](const Case& asked, int number) { return launches.launch(asked, number); },
      .keep = hooks.keep,
      .finished =
          [&](const Case& asked) {
            launches.name_straggler(asked);
            hooks.finished(fmt::format("measured {}", case_name(asked)));
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
