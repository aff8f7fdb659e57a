#pragma once

/// Measured cases of a plan and their baselines, launched in turn, so that what slows the machine for a while slows all
/// alike.
///
/// A round launches every case once, the baseline last; the next one goes backwards: A B, B A, A B ... Each launch
/// keeps the steps of its round's baseline launch (`metric::kPairedBaseline`). Many cases are cut into blocks with
/// baseline launches of their own: a pair that lies far apart in time has little in common.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "analysis/prediction/case_strategy.hpp"
#include "bench/sweep/launch_follower.hpp"
#include "bench/sweep/measure.hpp"

namespace hbench {

/// `resnet18 ring on 2 ranks`: a case on a line of progress.
std::string case_name(const Case& asked);

/// Measures `cases`, which are of `plan`, in turn with their baselines, also those that are known from before: the
/// machine was another one then. Baselines that are not among `cases` are launched only beside them. Launches are
/// numbered from `first_launch`. Ends early on Ctrl-C. The worst code of a launch; `good` where none has failed.
ExitCode measure_cases(const std::vector<PlannedCase>& plan, const std::vector<const Case*>& cases,
                       const MeasureOptions& options, int first_launch, const LaunchFollower& follower);

struct TurnLimits {
  int launches = 5;
  /// Further launches, at most, of a case whose interval is wider than a tenth to one side or that has warnings; none
  /// where there are fewer than three launches.
  int more = 2;
  /// The baseline was measured before, and is launched only beside a partner, never for itself.
  bool baseline_is_known = false;
};

/// The turns themselves know neither processes nor the database.
struct TurnHooks {
  /// Launches a case; `number` counts its launches. An Error means that the case cannot be launched here at all.
  std::function<LaunchOutcome(const Case& asked, int number)> launch;
  /// After each round: the samples that a case got in it, or, with the status failed, that it is given up without one
  /// good launch.
  std::function<void(const Case& asked, const CaseResult& addition)> keep;
  /// A case has all its launches, or is given up.
  std::function<void(const Case& asked)> finished;
  /// Asked after each launch: what is done is kept, nothing else is launched.
  std::function<bool()> interrupted;
};

/// Cases beside one baseline in a block.
inline constexpr std::size_t kMostBesideABaseline = 6;

/// A launch that fails is repeated in a later round; a case of which two fail is given up, and the others go on. The
/// baseline (null: there is none) is launched in every round in which it has a partner, and, where it is not known,
/// until it has its launches.
void take_turns(const Case* baseline, const std::vector<const Case*>& cases, const TurnLimits& limits,
                const TurnHooks& hooks);

}  // namespace hbench
