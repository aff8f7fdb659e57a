#pragma once

/// The calibration of a sweep: what it records and measures of this machine, so that nodes like it are simulated and
/// emulated.

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/fit/machine_profile.hpp"
#include "bench/sweep/measure.hpp"
#include "bench/sweep/measured_place.hpp"

namespace hbench {

/// Decided with the plan of the sweep.
struct CalibrationPlan {
  MeasuredPlace place;
  std::vector<Case> baselines;        ///< measured: one process without communication, a model each
  std::vector<std::string> networks;  ///< profiles, by name or file
  std::set<Evidence> evidence;        ///< of the cases that it adds: emulated, simulated

  int ranks() const { return place.ranks; }
  /// For the estimate.
  double seconds() const;
  /// `lenet5 on 2 ranks, then nodes like this machine joined by hkbu-10gbe`
  std::string in_words() const;
  /// `hbench-calibration/gpu-tf32-batch64-224px-8ranks`, beside the database: what differs is elsewhere.
  std::filesystem::path folder(const std::filesystem::path& database) const;
};

/// Nothing where nothing is to be calibrated. Pure. \throws Error (usage) when `always` meets a sweep that does not
/// measure, or neither simulates nor emulates.
std::optional<CalibrationPlan> plan_calibration(const SweepRequest& request, const LocalMachine& machine,
                                                const Plan& plan, CalibrationChoice choice);

/// What doing it takes. What it names outlives it.
struct CalibrationRun {
  const MeasureOptions& measure;  ///< of the baselines: `program` and `own_models`
  std::filesystem::path folder;
  bool reuse = false;               ///< what is in the folder already
  std::vector<CaseResult> results;  ///< among them those of the baselines
  Progress& progress;
};

/// Leaves a timeline of each model and a cluster profile for each network in the folder, all by children: this process
/// holds nothing of a GPU. \throws Error.
void calibrate(const CalibrationPlan& calibration, const Data& data, const CalibrationRun& run);

/// The simulated and emulated cases on nodes like this machine, with the image size, device and precision of the
/// measured ones, so that reports show them together. \throws Error (usage) when nothing is left of them.
Plan calibrated_plan(const CalibrationPlan& calibration, const SweepRequest& request, const Data& data,
                     const LocalMachine& machine, const std::filesystem::path& folder);

}  // namespace hbench
