#pragma once

/// Launches of the settings that `hbench tune` compares, and how they are stored.

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/records/records.hpp"
#include "analysis/store/store.hpp"
#include "bench/sweep/measure.hpp"

namespace hbench {

/// The launches of one setting.
struct LaunchedSetting {
  int count = 0;
  std::optional<std::int64_t> stored{};  ///< its case in the database
};

class TuneLaunches {
 public:
  /// `run` is what is stored about all of them, once there is something to store.
  TuneLaunches(MeasureOptions options, Run run) : options_(std::move(options)), run_(std::move(run)) {}

  /// Returns the median step of one launch in seconds; 0 when it failed or was interrupted. `into` is null for what is
  /// not to be stored.
  double launch(const Case& asked, LaunchedSetting& setting, Store* into);
  /// Returns why the last launch that failed did.
  const std::string& failure() const { return failure_; }

 private:
  void keep(CaseResult& result, LaunchedSetting& setting, Store& store);

  MeasureOptions options_;
  Run run_;
  std::optional<std::int64_t> run_id_;
  std::string failure_;
};

}  // namespace hbench
