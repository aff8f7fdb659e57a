#pragma once

/// A sweep before its first case runs: its plan, the machine and hosts that it runs on, and what it will cost.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"
#include "bench/calibrate/sweep_calibration.hpp"
#include "bench/command/verb.hpp"
#include "bench/emulation/emulated_launch.hpp"
#include "bench/hosts/preflight.hpp"
#include "bench/sweep/options.hpp"
#include "bench/sweep/plan.hpp"

namespace hbench {

/// When a case is answered: by a model, launched in turn with others on this machine, or launched alone on an emulated
/// cluster.
enum class Stage : std::uint8_t { computed, in_turn, alone };

/// What a case of a plan takes.
struct CaseWork {
  Stage stage = Stage::computed;
  double seconds = 0;                      ///< of all its launches, or of its simulation
  std::optional<EmulatedCase> emulated{};  ///< of an emulated cluster: before its launches
};

/// A plan whose cases are estimated.
struct SweepPlan : Plan {
  std::vector<CaseWork> work{};  ///< of each case

  /// \pre a case of this plan.
  const CaseWork& work_of(const PlannedCase& each) const {
    return work[static_cast<std::size_t>(&each - cases.data())];
  }
};

struct SweepPreparation {
  SweepOptions options;
  Data data;
  LocalMachine machine;
  SweepPlan plan;
  SweepPlan calibrated{};                        ///< what the calibration added; empty before and without it
  Preflight preflight{};                         ///< of several hosts; else empty
  std::optional<CalibrationPlan> calibration{};  ///< of nodes like this machine
  Run run{};                                     ///< what is stored about this run

  /// Returns the stage of a case that is no published figure.
  Stage stage_of(const Case& asked) const;
  /// Returns the options of launches on emulated clusters.
  MeasureOptions emulation_launches() const;
};

/// Plans a sweep. A dry run starts nothing; else the worker is tried, hosts are looked at and the run is described,
/// with which the plan is made again, and a step of each model of one's own is recorded. \throws Error (usage), and
/// (environment) when hosts cannot run it.
SweepPreparation plan_sweep(const Call& call, SweepOptions options);
/// Estimates each case of a plan (the sweep's, or what a calibration adds), and chooses how those of emulated clusters
/// are dilated. \throws Error (usage) for a planted fault that no emulated cluster has.
void estimate(SweepPlan& plan, const SweepPreparation& sweep);
/// The hosts, a line for each case, what is left out, and how long all of it takes: what a dry run prints.
std::string plan_in_words(const SweepPreparation& sweep);

}  // namespace hbench
