#pragma once

/// How gradients travel in a training step, measured or simulated: one value that is made at the edges (flags, stored
/// cases, orders to ranks) and passed on. Its choices point into the tables of their families.

#include <optional>
#include <string>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/fusion/fusion.hpp"
#include "collectives/placement/placement.hpp"
#include "workloads/methods/method.hpp"
#include "workloads/optimizers/optimizer.hpp"
#include "workloads/presets/preset.hpp"
#include "workloads/step/precision.hpp"
#include "workloads/step/step_memory.hpp"

namespace hbench {

enum class ServerMode : std::uint8_t {
  dedicated,  ///< on ranks of their own
  colocated,  ///< on ranks that are workers too
};

struct TrainingStrategy {
  MethodChoice method = parse_method("synchronous");
  AlgorithmRule algorithm;               ///< empty: one process without communication
  const Placement* placement = nullptr;  ///< of tensors on parameter servers; null without servers
  int servers = 0;                       ///< parameter servers; 0 without them
  ServerMode server_mode = ServerMode::dedicated;
  CompressorChoice compressor = parse_compressor("none");
  FusionChoice fusion;
  bool overlap = true;                     ///< gradients leave during the backward pass
  const ExecutorKind* executor = nullptr;  ///< what carries the bytes; null where nothing is measured
  bool on_gpu = false;                     ///< computed and exchanged on GPUs
  Precision precision = Precision::float32;
  Recomputation recomputation = Recomputation::none;
  /// None: of a model that is trained here plain SGD, of a recorded step the one that it was recorded with.
  std::optional<OptimizerChoice> optimizer = {};
  const Preset* preset = nullptr;  ///< the framework whose costs on the host are simulated; null: hbench's own engine

  bool communicates() const { return !algorithm.empty(); }
  bool colocated() const { return algorithm.uses_servers() && server_mode == ServerMode::colocated; }
  /// The optimizer of a model that is trained here.
  OptimizerChoice trained_with() const { return optimizer ? *optimizer : parse_optimizer("sgd"); }
  /// Sets the number of servers to `count`, but of colocated ones to no more than there are workers to share a rank
  /// with.
  void set_servers(int count, int workers);
  /// The world of a job of `workers`, of which `gpus_per_node` share a node, or a domain of nodes. Those of a node add
  /// up before they talk to a server where the placement says so and ranks meet.
  World world(int workers, int gpus_per_node) const;
};

/// What a framework sends, uncompressed; of servers there is one on each of `nodes`.
TrainingStrategy strategy_of(const Preset& preset, int nodes);
/// Returns the framework that is meant where nobody names one: the one whose fusion policy the strategy has; else
/// PyTorch's DDP, and of servers the first in the table that places tensors so, or TensorFlow's. \pre it communicates
const Preset& usual_preset(const TrainingStrategy& strategy);

/// Returns what codes what a collective of the strategy's method carries.
CompressorChoice compressor_of(const TrainingStrategy& strategy, const Task& task);
/// Returns by which algorithm it goes, with a buffer of `bytes`. \pre there is one for the collective
AlgorithmChoice algorithm_of(const TrainingStrategy& strategy, const Task& task, std::int64_t bytes);

/// Why gradients cannot travel so, measured or simulated: one sentence for a person; empty when they can. \pre the
/// strategy communicates.
std::string refuse_strategy(const TrainingStrategy& strategy, const World& world);

/// Why a model of `tensors` has not the fragments that a method exchanges by turns: one sentence; empty where it has.
std::string refuse_fragments(const MethodChoice& method, std::size_t tensors);

/// Why the groups in which a method shares out the model do not suit nodes of `gpus_per_node`: one sentence; empty when
/// they do, or there are none.
std::string refuse_groups(const MethodChoice& method, int gpus_per_node);

/// Why a job cannot go on from what its ranks have written after a step: one sentence; empty when it can.
std::string refuse_checkpoints(const TrainingStrategy& strategy, const World& world);

/// Why hbench's own engine cannot do so, whatever can be simulated: one sentence; empty when it can. A replay of a
/// recorded step is no training of a model.
std::string refuse_engine(const TrainingStrategy& strategy, bool replays);

}  // namespace hbench
