#pragma once

/// A cluster and a workload whose steps can be computed by hand.

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/data.hpp"

namespace hbench {

/// Computes for 0.1 s and then sends one gradient of 100 MB. `lab` has nodes of one GPU, no latency, and nothing that
/// costs anything but its network.
inline Catalog lab_catalog() {
  Catalog catalog;
  Profile& lab = catalog.profiles["lab"];
  lab.name = lab.title = "lab";
  lab.line_rate = BytesPerSecond(1e9);
  Trace& trace = catalog.traces["one"];
  trace.name = "one";
  trace.title = "One gradient";
  trace.timeline = {.batch = 1, .forward = Seconds(0.05), .backward = Seconds(0.05)};
  trace.timeline.gradients = {{"all", 25'000'000, Seconds(0.05)}};
  return catalog;
}

/// All of it on `gpus`, after the backward pass.
inline PlannedCase lab_case(int gpus, std::string_view algorithm = "ring", std::string_view compressor = "none") {
  Case asked;
  asked.workload = "one";
  asked.profile = "lab";
  asked.gpus = asked.nodes = gpus;
  asked.batch_per_gpu = 1;
  TrainingStrategy strategy;
  strategy.algorithm = parse_algorithm_rule(algorithm);
  strategy.compressor = parse_compressor(compressor);
  strategy.fusion = parse_fusion("none");
  strategy.overlap = false;
  if (strategy.algorithm.uses_servers()) {
    strategy.placement = placements().front();
    strategy.servers = gpus;
    strategy.server_mode = ServerMode::colocated;
  }
  return planned(asked, strategy);
}

}  // namespace hbench
