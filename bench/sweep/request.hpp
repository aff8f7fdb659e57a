#pragma once

/// What is asked of a sweep, and what this machine can do.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/prediction/plan.hpp"
#include "bench/doctor/training_means.hpp"
#include "bench/frameworks/find_framework.hpp"
#include "bench/launch/allocation.hpp"
#include "bench/sweep/experiment.hpp"
#include "workloads/models/own_model.hpp"

namespace hbench {

/// Whether a sweep also simulates and emulates nodes like this machine. `where_it_helps`: on GPUs, when more of them
/// are asked for than there are.
enum class CalibrationChoice : std::uint8_t { where_it_helps, always, never };

/// What was asked for; of measured runs a batch of 0 is 16.
struct SweepRequest : PredictionRequest {
  std::vector<int> nodes;  ///< of measured runs: each GPU count on each of these; empty: on the fewest that hold it
  int gpus_per_node = 0;   ///< of measured runs, in the place of `nodes`; 0: not given
  std::vector<NodeLayout>
      layouts;  ///< of measured runs, in the place of both; `gpus` has their GPU counts. Empty: none
  std::vector<OwnModel> own_models;         ///< among `workloads`, by their names
  std::vector<FrameworkChoice> frameworks;  ///< to measure beside hbench's own strategies
  int image_size = 0;                       ///< of measured runs; 0: 64 on CPU cores, 224 on GPUs
  std::string device;    ///< of measured runs: `cpu`, `gpu`; empty: GPUs where models can be trained on them
  std::string executor;  ///< of measured runs; empty: the best there is for each algorithm
};

/// What this machine can measure.
struct LocalMachine : TrainingMeans {
  int cores = 1;
  int ranks = 1;               ///< on CPU cores, measured runs use at most this many workers
  bool asked_for = false;      ///< by --oversubscribe, which then counts for GPUs as well
  std::string emulated;        ///< the network that ranks have instead of their own, in words; empty: none
  Allocation allocation;       ///< where measured ranks are started
  FoundFrameworks frameworks;  ///< of those that were asked for
  PlanLimits limits;           ///< `models` are those that can be trained here
};

}  // namespace hbench
