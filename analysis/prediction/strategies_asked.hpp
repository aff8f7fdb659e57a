#pragma once

/// The strategies that a request asks for: the product of its lists, each with its default where it was not given.
/// Pure.

#include <string>
#include <vector>

#include "analysis/prediction/request.hpp"
#include "workloads/step/strategy.hpp"

namespace hbench {

/// A ring of n ranks has 2 (n - 1) hops of 10 to 20 us: from here on 5 to 10 ms for each bucket, however small, which a
/// backward pass hides no longer.
inline constexpr int kManyGpus = 256;

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

/// What `--method auto` tries on a cluster: all methods whose updates are those of synchronous training, so that they
/// differ in speed and memory alone. Sharded within a node or over all, and divided by tensor groups within a node, by
/// pipelines of up to 16 stages, and by both, with 2, 4 and 8 micro-batches for each stage, of 1, 2 or 4 chunks of
/// layers. Many of them are refused for a model that they do not divide or that has no room; the first is synchronous.
/// \param gpus_per_domain the GPUs of a node, or of a domain that is wider
std::vector<std::string> methods_to_search(int gpus, int gpus_per_domain);

}  // namespace hbench
