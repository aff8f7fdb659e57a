#pragma once

/// What `hbench tune` was asked for, and which settings it compares.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/command/verb.hpp"
#include "bench/command/verbosity.hpp"
#include "bench/sweep/request.hpp"

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

constexpr std::size_t kMostMeasured = 24;

/// Returns at most `most` settings for gradients of `bytes`. A policy stands for its grid, a policy with parameters for
/// itself: the same one twice is raced against itself. \throws Error (usage)
std::vector<std::string> tuned_settings(const TuneOptions& options, std::int64_t bytes, std::size_t most);

/// Returns as many settings as can be raced within `budget` seconds, where a launch takes `cost` seconds.
/// \throws Error (usage) when not even two can.
std::vector<std::string> affordable_settings(const TuneOptions& options, std::int64_t bytes, double cost,
                                             double budget);

/// Returns a case for each setting. \throws Error (usage) when nothing can be tuned.
Plan tune_plan(const TuneOptions& options, const std::vector<std::string>& fusions, const Data& data,
               const LocalMachine& machine);

/// Returns the case of a setting. \throws Error (usage) when it was left out.
const Case& case_of(const Plan& plan, const std::string& fusion);

}  // namespace hbench
