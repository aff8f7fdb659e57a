#pragma once

/// A sweep before its first case runs: its plan, the machine and hosts that it runs on, and what it will cost.

#include <map>
#include <optional>

#include "analysis/records/records.hpp"
#include "bench/calibrate/sweep_calibration.hpp"
#include "bench/command/verb.hpp"
#include "bench/emulation/emulated_launch.hpp"
#include "bench/hosts/preflight.hpp"
#include "bench/sweep/options.hpp"
#include "bench/sweep/plan.hpp"

namespace hbench {

/// A case of an emulated cluster before its launches.
struct PlannedEmulation {
  EmulatedCase emulated;
  double seconds = 0;  ///< of all launches
};
/// By cases of a plan, into which it points.
using PlannedEmulations = std::map<const PlannedCase*, PlannedEmulation>;

/// Moved as a whole: `emulations` point into the plan's cases.
struct SweepPreparation {
  SweepOptions options;
  Data data;
  LocalMachine machine;
  Plan plan;
  Preflight preflight{};                         ///< of several hosts; else empty
  std::optional<CalibrationPlan> calibration{};  ///< of nodes like this machine
  Run run{};                                     ///< what is stored about this run
  PlannedEmulations emulations{};                ///< of the plan's cases

  /// Returns whether the case is measured on this machine, in turn with others, and not on an emulated cluster.
  bool is_launched_here(const Case& asked) const;
  /// Returns the seconds that a case of the plan takes, or a simulated one of `of`, which a calibration adds.
  double cost(const PlannedCase& planned, const Plan& of) const;
  /// Returns the options of launches on emulated clusters.
  MeasureOptions emulation_launches() const;
};

/// Plans without starting anything, but what records a step of a model of one's own.
SweepPreparation plan_sweep(const Call& call, SweepOptions options);
/// Tries the worker, looks at the hosts, and describes the run: what measuring here needs. Plans again with what it
/// finds. \throws Error (environment) when hosts cannot run it.
void look_around(SweepPreparation& sweep);
/// Chooses how each case of an emulated cluster is dilated. `plan` (the sweep's, or what a calibration adds) outlives
/// what is returned.
PlannedEmulations plan_emulations(const SweepPreparation& sweep, const Plan& plan);

}  // namespace hbench
