#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "analysis/prediction/request.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/common_options.hpp"
#include "bench/command/verb.hpp"
#include "bench/hosts/preflight.hpp"
#include "bench/sweep/measure.hpp"
#include "bench/sweep/request.hpp"

namespace hbench {

/// What `hbench sweep` was asked for.
struct SweepOptions {
  SweepRequest request;
  HostOptions hosts;
  bool preflight = true;  ///< look at the hosts before anything is measured on several
  MeasureOptions measure;
  int oversubscribe = 0;  ///< ranks; 0: as many as cores
  std::filesystem::path database = "hbench.db";
  std::filesystem::path report = "hbench-report";
  CalibrationChoice calibration = CalibrationChoice::where_it_helps;
  std::map<std::string, std::string> labels;  ///< of the run
  bool resume = false;
  bool dry_run = false;
  bool json = false;
  Verbosity verbosity = Verbosity::usual;
  bool wide = false;

  double dilation = 0;        ///< of emulated cases; 0: chosen for each
  int emulated_launches = 3;  ///< of each emulated case

  bool emulates() const { return request.evidence.contains(Evidence::emulated); }
  bool measures() const { return request.asks(is_of_machine); }
};

/// Nothing when help was asked for and printed. \throws Error (usage).
std::optional<SweepOptions> parse_sweep_options(const Call& call);

/// Adds the flags of what one GPU does in a step: `--batch`, `--accumulate`, `--global-batch`, `--single-gpu-rate`,
/// `--single-node-rate`, `--rate`, `--recompute` and `--optimizer`. `request` outlives the parsing.
void add_step_options(Arguments& app, PredictionRequest& request);
/// Adds `--image-size`, `--device` and `--executor`. `request` outlives the parsing.
void add_measured_options(Arguments& app, SweepRequest& request);
/// Adds `--optimizer`, whose default is `standard` in words. `request` outlives the parsing.
void add_optimizer_option(Arguments& app, PredictionRequest& request, const std::string& standard);
/// Adds `--method`. `request` outlives the parsing.
void add_method_option(Arguments& app, PredictionRequest& request);
/// Adds `--precision`, whose default is `standard` in words. `request` outlives the parsing.
void add_precision_option(Arguments& app, PredictionRequest& request, const std::string& standard);

}  // namespace hbench
