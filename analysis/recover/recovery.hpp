#pragma once

/// What the loss of ranks costs a training: how many steps are done again, how long until the next one, and how fast it
/// goes on. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"
#include "workloads/step/fault.hpp"
#include "workloads/step/strategy.hpp"

namespace hbench {

/// A policy for the time after the loss of a rank.
enum class OnFailure : std::uint8_t {
  stop,     ///< nothing: the job has ended
  restart,  ///< as many ranks go on from the last checkpoint
  shrink    ///< those that are left do
};
std::string_view to_string(OnFailure policy);
/// \throws Error (usage) that names the flag for a name that there is not.
OnFailure parse_on_failure(const std::string& text, const std::string& flag);

/// The first report of a step's end to who started the ranks.
struct StepSeen {
  double at = 0;       ///< seconds since the ranks were started first
  int steps = 0;       ///< of the job, done by then
  double seconds = 0;  ///< that it took
};

/// A checkpoint of one rank.
struct KeptCheckpoint {
  double bytes = 0, stall = 0, writing = 0;  ///< seconds
};

/// Ranks were lost.
struct Loss {
  std::string reason;
  double at = 0;                  ///< as `StepSeen::at`: of the last step before
  int done = 0;                   ///< steps by then
  int resumed = 0;                ///< steps with which it goes on
  int ranks = 0;                  ///< that go on; 0: none
  std::optional<double> seconds;  ///< until the next step is done; none: there is none

  int lost() const { return done - resumed; }
};

/// A training with all that has happened to it.
struct RecoveryRun {
  std::optional<OnFailure> policy;  ///< none: nothing is done to it, and it has no checkpoints
  std::vector<StepSeen> seen;
  std::vector<Loss> losses;
  std::vector<KeptCheckpoint> checkpoints;
  int damaged = 0;      ///< checkpoints that were found so
  std::string digest;   ///< of the parameters in the end; empty where it did not come to it
  std::string failure;  ///< why it did not

  /// The median of steps before the first loss, and after the last one; 0 where there are none.
  double step_before() const;
  double step_after() const;
  double seconds_lost() const;  ///< in all
  int steps_lost() const;
  /// Means over all checkpoints of all ranks; none without one.
  std::optional<KeptCheckpoint> checkpoint() const;
};

struct Recovery {
  Case asked;
  int every = 0;           ///< steps between checkpoints
  bool repeatable = true;  ///< as `repeats_bits`
  std::vector<PlantedFault> faults;
  std::vector<RecoveryRun> runs;  ///< the undisturbed one first

  const RecoveryRun& undisturbed() const { return runs.front(); }
  /// Whether a run has ended with the parameters of the undisturbed one, to the bit; none where it has other ranks, did
  /// not end, or is that one, and of trainings that are not repeatable.
  std::optional<bool> same_bits(const RecoveryRun& run) const;
  /// The share of the undisturbed training's samples per second with which a run goes on; none after no loss.
  std::optional<double> speed_after(const RecoveryRun& run) const;
};

/// Whether a training ends at the same bits each time: gradients leave in buckets that do not follow the clock or the
/// first step, or are sums of two numbers, which have one rounding.
bool repeats_bits(const TrainingStrategy& strategy, int workers);

/// Why such faults cannot be: a rank or a step that the job has not got. Empty where they can. \param ranks of the job
std::string refuse_faults(const std::vector<PlantedFault>& faults, int ranks, int steps);

}  // namespace hbench
