#pragma once

/// What is asked of a sweep, and what this machine can do.
///
/// An experiment file of a sweep: how many ranks are measured, and how they are put on nodes and GPUs.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/prediction/plan.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/frameworks/framework_job.hpp"
#include "bench/launch/allocation.hpp"
#include "workloads/models/own_model.hpp"

namespace hbench {

/// One way to put ranks on nodes.
struct NodeLayout {
  int nodes = 1;
  int gpus_per_node = 1;      ///< or cores
  int processes_per_gpu = 1;  ///< ranks that share each GPU

  int gpus() const { return nodes * gpus_per_node; }
  int ranks() const { return gpus() * processes_per_gpu; }
  int ranks_per_node() const { return gpus_per_node * processes_per_gpu; }

  friend auto operator<=>(const NodeLayout&, const NodeLayout&) = default;
};

/// Every combination of what the file lists, by rising ranks: the keys `workers` (nodes), `gpus_per_worker` and
/// `processes_per_gpu`, each a number or a list of them, 1 where it is not there. TOML, or YAML of these keys alone
/// where the file's name ends with `.yaml` or `.yml`. \throws Error (usage) with file and line.
std::vector<NodeLayout> parse_experiment(std::string_view text, const std::string& file);

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
  std::string data;                         ///< that measured runs learn; empty: samples are drawn
  int epochs = 0;                           ///< over it
  double learning_rate = 0;                 ///< 0: the optimizer's
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
