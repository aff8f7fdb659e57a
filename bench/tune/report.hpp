#pragma once

#include <string>
#include <vector>

#include "bench/tune/race.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// One setting of a fusion policy and its result.
struct TunedSetting {
  std::string fusion;  ///< canonical text; the first of a list is the reference
  Standing standing;
};

/// What was tuned.
struct Tuning {
  std::string workload;
  std::string algorithm;
  std::string compressor;
  int gpus = 1;
  std::string profile;  ///< empty: measured here
  std::vector<TunedSetting> settings;

  bool simulated() const { return !profile.empty(); }
};

/// The standings of simulated step times, which have no noise. \pre not empty
std::vector<Standing> simulated_standings(const std::vector<double>& seconds);

/// The setting to take: the reference unless another one is really faster.
const TunedSetting& recommended(const Tuning& tuning);
/// Settings from best to worst, with their verdicts in words.
Table tuning_table(const Tuning& tuning);
/// What to take and why, and the flag to give to `hbench sweep`.
std::string tuning_advice(const Tuning& tuning);
std::string tuning_json(const Tuning& tuning, Form form = Form::values);

}  // namespace hbench
