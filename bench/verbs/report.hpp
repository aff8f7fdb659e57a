#pragma once

/// The options that `hbench report` and `hbench export` choose points with.

#include <map>
#include <string>
#include <vector>

#include "bench/command/arguments.hpp"
#include "bench/output/point_filter.hpp"

namespace hbench {

/// Which points of which runs.
struct StoredFilter {
  PointFilter points;
  int run = 0;  ///< 0: any
  std::map<std::string, std::string> labels = {};

  /// \throws Error (usage) where none of the stored `runs` is meant.
  RunFilter of(const std::vector<Run>& runs) const;
};

/// Adds `--workload`, `--profile`, `--evidence`, `--strategy`, `--run` and `--label` to `app`, bound to `filter`, which
/// outlives it.
void add_filter_options(Arguments& app, StoredFilter& filter);

}  // namespace hbench
