#pragma once

/// Launches of the settings that `hbench tune` compares, and how they are stored.

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/records/records.hpp"
#include "analysis/store/store.hpp"
#include "bench/sweep/measure.hpp"
#include "bench/verbs/tune_plan.hpp"

namespace hbench {

/// The launches of one setting.
struct LaunchedSetting {
  int count = 0;
  std::optional<std::int64_t> stored{};  ///< its case in the database
};

class TuneLaunches {
 public:
  TuneLaunches(const Call& call, const TuneOptions& options);

  /// Returns the median step of one launch in seconds; 0 when it failed or was interrupted. `into` is null for what is
  /// not to be stored.
  double launch(const Case& asked, LaunchedSetting& setting, Store* into);
  /// Returns why the last launch that failed did.
  const std::string& failure() const { return failure_; }

 private:
  void keep(CaseResult& result, LaunchedSetting& setting, Store& store);

  MeasureOptions options_;
  Run run_;  ///< stored once there is a launch
  std::optional<std::int64_t> run_id_;
  std::string failure_;
};

}  // namespace hbench
