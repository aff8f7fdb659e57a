#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "bench/command/verb.hpp"
#include "bench/command/verbosity.hpp"
#include "bench/hosts/host_options.hpp"
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
  bool measures() const { return request.evidence.contains(Evidence::measured); }
};

/// Nothing when help was asked for and printed. \throws Error (usage).
std::optional<SweepOptions> parse_sweep_options(const Call& call);

}  // namespace hbench
