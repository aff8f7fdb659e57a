#pragma once

/// What is stored: plain records of what was asked and what was seen. No means, no efficiencies; those
/// are computed from these, so that a better estimator improves old data too.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hbench {

/// How a figure is known. The order is that of reports.
enum class Evidence : std::uint8_t { measured, emulated, simulated, published };
std::string_view to_string(Evidence evidence);
/// \throws Error (usage), with a suggestion.
Evidence parse_evidence(std::string_view text);

/// How gradients are exchanged. Empty or 0 where it does not apply.
struct Strategy {
  std::string algorithm;    ///< `ring`, `ps`, `vendor`, or `none`: one process without communication
  std::string placement;    ///< `greedy`, `round-robin`, `sliced`; parameter servers only
  int servers = 0;          ///< parameter servers only
  std::string server_mode;  ///< `dedicated` or `colocated`; parameter servers only
  std::string compressor;   ///< `none`, `fp16`
  std::string fusion;       ///< canonical text, such as `horovod:128MiB:1ms`
  bool overlap = true;      ///< gradients leave during the backward pass

  /// `ring`, `ring + fp16`, `ps (greedy, colocated)`, ...: what a legend shows. The fusion policy and
  /// the lack of overlap are shown only when they are not the default of the algorithm.
  std::string label() const;
  friend bool operator==(const Strategy&, const Strategy&) = default;
};

/// What identifies a collective that was timed by itself, beside its strategy and its ranks (`Case::gpus`).
struct CollectiveTask {
  std::string name;        ///< `all-reduce`, `reduce-scatter`, `all-gather`, `broadcast`; empty: a training step
  std::int64_t bytes = 0;  ///< of each rank's buffer, all tensors together
  std::string data_type;   ///< `float32`
  std::string operation;   ///< `sum`
  std::string executor;    ///< `mpi`, `shm`, `threads`
  int ranks_per_node = 0;  ///< of hierarchical algorithms; 0 where nothing depends on it
  int segments = 0;        ///< of pipelined algorithms; 0: as many as the algorithm chooses

  friend bool operator==(const CollectiveTask&, const CollectiveTask&) = default;
};

/// Where and how a measured training step runs, where that is not as it always was: on CPU cores, ranks under MPI, in
/// float32. Empty where nothing else is said.
struct TrainingTask {
  std::string device;     ///< `gpu`
  std::string executor;   ///< `nccl`, `nccl-p2p`, `cuda`, `threads`
  std::string precision;  ///< `tf32`, `bf16`, `fp16`

  /// `nccl, bf16`: what a legend adds to the strategy. Empty for what is not said.
  std::string label() const;
  bool empty() const { return *this == TrainingTask(); }
  friend bool operator==(const TrainingTask&, const TrainingTask&) = default;
};

/// What was asked: everything that identifies one point of a sweep, or one row of `hbench collective`.
struct Case {
  Evidence evidence = Evidence::simulated;
  std::string workload;  ///< `resnet50`, or a trace file's name
  int gpus = 1;          ///< workers; a measured run's ranks on CPU cores count as GPUs, and `training` says so
  Strategy strategy;
  std::string profile;  ///< cluster profile, or `local` for this machine
  int batch_per_gpu = 0;
  int image_size = 0;          ///< 0 where the workload fixes it
  double single_gpu_rate = 0;  ///< samples/s of one GPU given by the user; 0: the profile's or the trace's
  std::string implementation;  ///< name and revision of what produced it, such as `simulator/1`, `engine/1`
  std::string source;          ///< where the figures come from: a citation, a profile's digest, a trace's origin
  /// Of a collective; its `workload` is empty, or names the trace whose tensors travel.
  CollectiveTask collective;
  TrainingTask training;

  bool is_collective() const { return !collective.name.empty(); }
  /// `ring + fp16, nccl, bf16`: the strategy, and what it is trained with when that is not as always.
  std::string strategy_label() const;
  /// One line that names every field above, in a fixed order: equal keys are the same case.
  std::string key() const;
};

/// One raw observation. `metric` names: `step_seconds` (measured: one per launch, rank and iteration;
/// simulated: one), `step_seconds_low`, `step_seconds_high` (simulated: the profile's uncertainty),
/// `throughput` (published: samples/s, global), `efficiency` (published: as printed there),
/// `baseline_throughput` (published or simulated: samples/s of one GPU), and `ledger/...` for parts of a step. Those of
/// collectives are listed in `analysis/collectives.hpp`.
struct Sample {
  int launch = 0;
  int rank = 0;
  int iteration = 0;
  bool warmup = false;
  std::string metric;
  double value = 0;
  std::string unit;
};

enum class CaseStatus : std::uint8_t { done, failed };

/// A finished case with all it left behind.
struct CaseResult {
  Case asked;
  CaseStatus status = CaseStatus::done;
  std::string failure;  ///< one line with the reason, when failed
  int exit_code = 0;    ///< `ExitCode` of the failure
  std::vector<Sample> samples;
};

/// One invocation of the program.
struct Run {
  std::string command;     ///< as typed
  std::string version;     ///< of hbench
  std::string started_at;  ///< ISO 8601, UTC
  /// An allow-list of facts about the machine: `cpu`, `cores`, `memory`, `kernel`, `mpi`, `torch`, `blas`, `compiler`,
  /// `gpu`, and where GPUs were used `gpu_driver`, `gpu_clocks`, `cuda`, `nccl` ...
  std::map<std::string, std::string> environment;
};

}  // namespace hbench
