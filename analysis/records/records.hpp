#pragma once

/// What is stored: plain records of what was asked and what was seen. No means, no efficiencies; those
/// are computed from these, so that a better estimator improves old data too.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/evidence.hpp"
#include "collectives/base/span.hpp"

namespace hbench {

/// Names that stored strategies share with the tables of the families, which this layer does not look into.
inline constexpr const char* kNoCommunication = "none";  ///< the algorithm of a baseline: one process alone
inline constexpr const char* kVendor = "vendor";         ///< the algorithm of a library's own collectives
inline constexpr const char* kParameterServers = "ps";
inline constexpr const char* kUncompressed = "none";  ///< the compressor that leaves gradients as they are
inline constexpr const char* kUnfused = "none";       ///< the policy that sends each tensor by itself

/// `Strategy::server_mode` with servers on ranks of their own, or on ranks that are workers too.
inline constexpr const char* kDedicated = "dedicated";
inline constexpr const char* kColocated = "colocated";
/// `Case::profile` of what is timed: the machine of the run.
inline constexpr const char* kLocalProfile = "local";

/// `horovod-2018` of `horovod-2018:64MiB:5ms`: the name of a policy without its parameters.
std::string_view policy_of(std::string_view fusion);

/// How gradients are exchanged, as it is stored: names that this version may not know. Empty or 0 where it does not
/// apply. What is decided by it asks the questions below, or parses it (`analysis/prediction/case_strategy.hpp`).
struct Strategy {
  std::string algorithm;    ///< `ring`, `ps`, `vendor`, or `none`: one process without communication
  std::string placement;    ///< `greedy`, `round-robin`, `sliced`; parameter servers only
  int servers = 0;          ///< parameter servers only
  std::string server_mode;  ///< `dedicated` or `colocated`; parameter servers only
  std::string compressor;   ///< `none`, `fp16`
  std::string fusion;       ///< canonical text, such as `horovod:128MiB:1ms`
  bool overlap = true;      ///< gradients leave during the backward pass
  std::string preset = {};  ///< the framework as the simulator sees it, costs and all; empty: none
  std::string method = {};  ///< of training, such as `local-sgd:8`; empty: synchronous
  /// The program that trained, with its setting, as `hbench sweep --framework` has it; empty: hbench itself. Then the
  /// other members say what it does, as its preset has it.
  std::string framework = {};
  std::string framework_version = {};

  /// Whether there is any: a baseline has none.
  bool communicates() const { return algorithm != kNoCommunication; }
  /// Whether gradients are encoded on their way.
  bool compresses() const { return !compressor.empty() && compressor != kUncompressed; }
  bool uses_servers() const { return !server_mode.empty() || algorithm == kParameterServers; }
  bool dedicated() const { return server_mode == kDedicated; }
  bool colocated() const { return server_mode == kColocated; }
  /// Whether another program than hbench trained.
  bool of_framework() const { return !framework.empty(); }
  /// The library's own all-reduce.
  bool is_vendor() const { return algorithm == kVendor; }
  /// `ring`, `ring + fp16`, `ps (greedy, colocated)`, ...: what a legend shows. The fusion policy and
  /// the lack of overlap are shown only when they are not the default of the algorithm. A preset stands before all:
  /// `ddp: ring`. A measured framework is shown by its name and version: `pytorch-ddp 1.13.1`.
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

/// `TrainingTask::device` of GPUs; CPU cores have none.
inline constexpr const char* kGpuDevice = "gpu";

/// Where and how a training step runs, where that is not as it always was: on CPU cores, ranks under MPI, in
/// float32, keeping all activations. Empty where nothing else is said.
struct TrainingTask {
  std::string device;     ///< `gpu`
  std::string executor;   ///< `nccl`, `nccl-p2p`, `cuda`, `threads`
  std::string precision;  ///< `tf32`, `bf16`, `fp16`, `bf16-true`
  std::string recompute;  ///< `selective`, `full`: the activations that the backward pass computes again
  std::string optimizer;  ///< `adam`, `momentum:0.8`; of a measured step empty: SGD, else as the workload was recorded
  std::string data;       ///< what is learned: `mnist1d`, a folder; empty: samples are drawn
  int epochs = 0;         ///< over it
  double learning_rate = 0;  ///< of one rank alone; 0: the optimizer's usual one

  /// `nccl, bf16, full recomputation`: what a legend adds to the strategy. Empty for what is not said.
  std::string label() const;
  bool empty() const { return *this == TrainingTask(); }
  bool on_gpu() const { return device == kGpuDevice; }
  friend bool operator==(const TrainingTask&, const TrainingTask&) = default;
};

/// A question, the place where its answer holds, and the revision that gives it: one point of a sweep, or one row of
/// `hbench collective`. `analysis/records/case_fields.hpp` lists the fields and says which part each is of.
struct Case {
  Evidence evidence = Evidence::simulated;
  std::string workload;       ///< `resnet50`, or a trace file's name
  int gpus = 1;               ///< a measured run's ranks on CPU cores count as GPUs, and `training` says so
  int nodes = 0;              ///< machines on which the workers are; 0: not known
  int processes_per_gpu = 0;  ///< workers that share each GPU, where more than one does; else 0
  Strategy strategy;
  std::string profile;    ///< cluster profile, or `local` for this machine
  int batch_per_gpu = 0;  ///< samples per worker and step, all micro-batches together
  int accumulate = 0;     ///< micro-batches of a step, whose gradients travel together; 0: one
  int global_batch = 0;   ///< samples of a step at every GPU count (strong scaling); 0: `batch_per_gpu` is (weak)
  int image_size = 0;     ///< 0 where the workload fixes it
  std::string model_digest = {};  ///< of the file of a model of one's own; else empty
  double single_gpu_rate = 0;     ///< samples/s of one GPU given by the user; 0: the profile's or the trace's
  std::string implementation;     ///< name and revision of what produced it, such as `simulator/1`, `engine/1`
  std::string source;             ///< where the figures come from: a citation, a profile's digest, a trace's origin
  /// Of a collective; its `workload` is empty, or names the trace whose tensors travel.
  CollectiveTask collective;
  TrainingTask training;
  /// Of another program, as it names itself, with the program before it: `checker_bench BM_Check/64`. Then there is no
  /// workload and no collective. Empty: hbench's own question.
  std::string benchmark = {};
  std::string machine;  ///< digest of `analysis/records/fingerprint.hpp` where it is timed; else empty

  /// Whether it runs on the machine of the run, and on no cluster of a profile.
  bool is_local() const { return profile == kLocalProfile; }
  bool is_collective() const { return !collective.name.empty(); }
  /// Whether another program timed something that hbench has no words for: no point of a scaling curve.
  bool is_benchmark() const { return !benchmark.empty(); }
  /// Properties of `evidence`.
  bool is_timed() const { return hbench::is_timed(evidence); }
  bool is_predicted() const { return hbench::is_predicted(evidence); }
  bool is_of_others() const { return hbench::is_of_others(evidence); }
  bool is_of_machine() const { return hbench::is_of_machine(evidence); }
  /// `ring + fp16, nccl, bf16`: the strategy, and what it is trained with when that is not as always.
  std::string strategy_label() const;

  /// Ranks that train: as many as GPUs, where none share one.
  int workers() const { return gpus * std::max(processes_per_gpu, 1); }

  /// Samples of a worker's micro-batch.
  int micro_batch() const { return batch_per_gpu / std::max(accumulate, 1); }
  /// `32`, `128 in 4 micro-batches`: what a worker takes in a step.
  std::string batch_label() const;

  /// `2 x 4`: nodes and the workers of each, of a timed case on several nodes; else empty.
  std::string nodes_label() const;

  /// What someone wants to know, in one line. Equal questions have equal texts, on every machine and in later versions.
  std::string question() const;
  /// Where the answer holds, in one line: answers may be compared where these are equal.
  std::string place() const;
  /// Question and place: of answers with equal keys a report shows the newest.
  std::string key() const;
  /// The same work by one process without communication, at the same place and by the same implementation.
  Case baseline() const;
};

/// One raw observation. `metric` names: `step_seconds` (measured: one per launch, rank and iteration;
/// simulated: one), `step_seconds_low`, `step_seconds_high` (simulated: the band, see
/// `analysis/points/unknowns.hpp`), `communication_seconds` (simulated: with a collective in flight, hidden or not),
/// `throughput` (published: samples/s, global), `efficiency` (published: as printed there), `baseline_throughput`
/// (published or simulated: samples/s of one GPU), `ledger/...` for parts of a step (`analysis/trace/ledger.hpp`;
/// measured: one per launch, rank and traced step), `backward_seconds` (the same of the backward pass) and
/// `wait_seconds` (measured: after the backward pass, for gradients). Those of collectives are listed in
/// `analysis/points/collectives.hpp`.
struct Sample {
  int launch = 0;
  int rank = 0;
  int iteration = 0;
  bool warmup = false;
  std::string metric;
  double value = 0;
  std::string unit;
};

/// The spans of all ranks in one traced step.
struct TracedStep {
  int launch = 0;
  int iteration = 0;  ///< in the launch, as `Sample::iteration`; traced steps follow the timed ones
  std::vector<Span> spans;

  friend bool operator==(const TracedStep&, const TracedStep&) = default;
};

enum class CaseStatus : std::uint8_t { done, failed };

/// Who gave an answer, and when: with `Case::implementation`, the producer.
struct Producer {
  std::int64_t run = 0;                       ///< in its database; 0: not stored
  std::string version;                        ///< of hbench
  std::string started_at;                     ///< of the run; ISO 8601, UTC
  std::map<std::string, std::string> labels;  ///< of the run, such as `branch`, `commit`

  /// The label `commit`: of the project that is measured; empty where none was given.
  std::string commit() const;
};

/// How the source of a case says that one GPU is as fast as whatever its timeline was recorded on.
inline constexpr std::string_view kRecordedRate = "as recorded in the timeline";
/// Whether a step is that of other hardware than the GPU of its cluster: of what its timeline was recorded on.
bool has_recorded_rate(const Case& asked);
/// How the source of a case says that nobody measured the rate of one GPU.
inline constexpr std::string_view kModelledRate = "one GPU: modelled";
bool has_modelled_rate(const Case& asked);

/// `batch 64`, `batch 128 in 4 micro-batches`, or `global batch 8192`, of which each GPU takes another part at each
/// number of GPUs.
std::string batch_in_words(const Case& asked);
/// Whether workers take the same batches: with as many samples in more micro-batches a step has other work.
bool same_batch(const Case& a, const Case& b);

/// Whether two answers come from the same code: implementation, hbench and the measured project's commit.
bool same_code(const Case& a, const Producer& a_by, const Case& b, const Producer& b_by);
/// Question, place and code in one line: what need not be done again.
std::string answer_key(const Case& asked, const Producer& by);

/// A finished case with all it left behind.
struct CaseResult {
  Case asked;
  CaseStatus status = CaseStatus::done;
  std::string failure;  ///< one line with the reason, when failed
  int exit_code = 0;    ///< `ExitCode` of the failure
  std::vector<Sample> samples;
  std::vector<TracedStep> traced = {};  ///< to be stored; `Store::traced` reads them
  Producer producer = {};               ///< as stored; the store fills it in
  std::string machine_in_words = {};    ///< `Case::machine`, from the environment of its run
  std::string origin = {};              ///< `rows.csv:3`, where somebody wrote it down; empty elsewhere
};

/// The value of the first sample of a metric; none where the result has no such sample.
std::optional<double> value_of(const CaseResult& result, std::string_view metric);

/// One invocation of the program.
struct Run {
  std::string command;     ///< as typed
  std::string version;     ///< of hbench
  std::string started_at;  ///< ISO 8601, UTC
  /// An allow-list of facts about the machine: `cpu`, `cores`, `memory`, `kernel`, `mpi`, `mpi_library`, `torch`,
  /// `blas`, `compiler`, `gpu`, and where GPUs were used `gpu_driver`, `gpu_clocks`, `cuda`, `nccl` ...; `machine
  /// DIGEST` for each fingerprint of its cases.
  std::map<std::string, std::string> environment;
  std::map<std::string, std::string> labels = {};  ///< given with `--label`: `branch`, `commit` ...

  std::int64_t id = 0;    ///< in its database; 0: not stored
  std::string uuid = {};  ///< the same in every database that holds the run; the store fills it in

  Producer producer() const { return {.run = id, .version = version, .started_at = started_at, .labels = labels}; }
};

/// Which runs' answers count.
struct RunFilter {
  std::int64_t run = 0;                       ///< 0: any
  std::map<std::string, std::string> labels;  ///< a run has them all

  bool is_empty() const { return run == 0 && labels.empty(); }
  bool accepts(const Run& asked) const;
  /// Of an answer: whether its run is one.
  bool accepts(const Producer& by) const;
};

}  // namespace hbench
