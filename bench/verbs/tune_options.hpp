#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "bench/command/verb.hpp"
#include "bench/command/verbosity.hpp"

namespace hbench {

/// What `hbench tune` was asked for.
struct TuneOptions {
  std::string workload, profile, algorithm = "ring", compressor = "none", fusion = "horovod", budget = "2min";
  int ranks = 2, gpus = 0, batch = 0, steps = 20;
  int image_size = 0;  ///< 0: as a sweep's
  std::filesystem::path database = "hbench.db";
  double steps_seconds = 1.5;
  std::map<std::string, std::string> labels;
  bool json = false, wide = false;
  Verbosity verbosity = Verbosity::usual;

  bool simulated() const { return !profile.empty(); }
  int workers() const { return simulated() ? gpus : ranks; }
};

/// Nothing when help was asked for and printed. \throws Error (usage).
std::optional<TuneOptions> parse_tune_options(const Call& call);

}  // namespace hbench
