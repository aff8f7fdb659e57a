#pragma once

/// The strategies that a sweep asks for: the product of its lists, each with its default where it was not given. Pure.

#include <string>
#include <vector>

#include "bench/sweep/plan.hpp"
#include "workloads/strategy.hpp"

namespace hbench {

/// Of which cases.
struct StrategiesOf {
  Evidence evidence = Evidence::simulated;
  int nodes = 1;          ///< as many parameter servers where no number was given
  std::string auto_rule;  ///< what `auto` stands for; empty: nothing here
};

/// What is left out is added to `refused`, with the reason.
std::vector<TrainingStrategy> strategies_asked(const SweepRequest& request, const StrategiesOf& of,
                                               std::vector<Refusal>& refused);

/// Whether frameworks were asked for, and nothing beside them.
bool only_presets(const SweepRequest& request);

}  // namespace hbench
