#pragma once

/// The options that `hbench report` and `hbench export` choose points with.

#include <optional>
#include <string>

#include "bench/command/arguments.hpp"
#include "bench/output/point_filter.hpp"

namespace hbench {

/// The texts of the options, before they are understood.
struct FilterTexts {
  std::optional<std::string> workload, profile, evidence, strategy;
  int run = 0;  ///< 0: any
  std::vector<std::string> labels;
};

/// Adds `--workload`, `--profile`, `--evidence`, `--strategy`, `--run` and `--label` to `app`, bound to `texts`, which
/// outlives it.
void add_filter_options(Arguments& app, FilterTexts& texts);
/// \throws Error (usage) for an empty item and for an evidence that there is not.
PointFilter parse_filter(const FilterTexts& texts);
/// \throws Error (usage) for a label that is none, and where none of the stored `runs` is meant.
RunFilter parse_run_filter(const FilterTexts& texts, const std::vector<Run>& runs);

}  // namespace hbench
