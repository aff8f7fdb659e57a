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

/// Moved as a whole: `emulated` points into the plan's cases.
struct SweepPreparation {
  SweepOptions options;
  Data data;
  LocalMachine machine;
  Plan plan;
  Preflight preflight{};                           ///< of several hosts; else empty
  std::optional<CalibrationPlan> calibration{};    ///< of nodes like this machine
  Run run{};                                       ///< what is stored about this run
  std::map<const Case*, EmulatedCase> emulated{};  ///< of the plan's cases
  std::map<const Case*, double> emulated_times{};  ///< seconds of all launches

  /// Returns whether the case is measured on this machine, in turn with others, and not on an emulated cluster.
  bool is_launched_here(const Case& asked) const;
  /// Returns the seconds that a case of `of` (the plan, or what a calibration adds) takes.
  double cost(const Case& asked, const Plan& of) const;
  /// Returns the options of launches on emulated clusters.
  MeasureOptions emulation_launches() const;
};

/// Plans without starting anything, but what records a step of a model of one's own.
SweepPreparation plan_sweep(const Call& call, SweepOptions options);
/// Tries the worker, looks at the hosts, and describes the run: what measuring here needs. Plans again with what it
/// finds. \throws Error (environment) when hosts cannot run it.
void look_around(SweepPreparation& sweep);
/// Chooses how each emulated case is dilated. The last step, because it points into the plan.
void plan_emulations(SweepPreparation& sweep);

}  // namespace hbench
