#pragma once

/// The strategies that a request asks for: the product of its lists, each with its default where it was not given.
/// Pure.

#include <string>
#include <vector>

#include "analysis/prediction/request.hpp"
#include "workloads/step/strategy.hpp"

namespace hbench {

/// Of which cases.
struct StrategiesOf {
  Evidence evidence = Evidence::simulated;
  int gpus = 2, gpus_per_node = 1;
  int nodes = 1;                               ///< as many parameter servers where no number was given
  std::string auto_rule;                       ///< what the algorithm `auto` stands for; empty: nothing here
  std::vector<std::string> auto_methods = {};  ///< the same of the method `auto`
};

/// What is left out is added to `refused`, with the reason. Only algorithms that nobody named are left out in silence
/// where they cannot be: those of the default that do not suit a method, if one of them does.
std::vector<TrainingStrategy> strategies_asked(const PredictionRequest& request, const StrategiesOf& of,
                                               std::vector<Refusal>& refused);

}  // namespace hbench
