#pragma once

/// What is to be predicted, and what of it cannot be.
///
/// How many samples a GPU takes in a step: the same at every GPU count (weak scaling), or its share of a global batch
/// (strong scaling), in one micro-batch or several whose gradients are added up. Pure.

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/records/records.hpp"
#include "collectives/base/units_text.hpp"
#include "workloads/optimizers/optimizer.hpp"
#include "workloads/step/step_memory.hpp"

namespace hbench {

/// How parameter servers are placed: `colocated`, `dedicated`, `4` (dedicated), `colocated:4`.
struct ServerChoice {
  bool colocated = false;
  int count = 0;  ///< 0: one for each node
};
/// \throws Error (usage).
ServerChoice parse_servers(std::string_view text);

/// A step that somebody has measured.
struct MeasuredStep {
  Seconds time;  ///< 0: none
  int gpus = 0;  ///< 0: the most that are asked for
};
/// `313ms@32`, `1.2s`. \throws Error (usage).
MeasuredStep parse_measured_step(std::string_view text);

/// What was asked for. Empty lists take their defaults.
struct PredictionRequest {
  std::vector<int> gpus;
  std::vector<std::string> workloads, profiles, algorithms, compressors, fusions, placements;
  /// Frameworks, which are only simulated; with no algorithms, nothing else is. What is asked for without one is
  /// simulated as `usual_preset` of its strategy does it.
  std::vector<std::string> presets;
  std::vector<std::string> methods;  ///< of training, with their parameters; empty: synchronous
  /// Frameworks that are simulated as well, each a preset with its method.
  std::vector<std::pair<std::string, std::string>> preset_methods;
  std::vector<ServerChoice> servers;
  std::set<Evidence> evidence{Evidence::simulated};
  int batch = 0;               ///< per GPU and micro-batch; 0: the profile's
  int accumulate = 0;          ///< micro-batches of a step; 0: one, or what `batch` and `global_batch` make of it
  int global_batch = 0;        ///< samples of a step at every GPU count (strong scaling); 0: each GPU's stays (weak)
  double single_gpu_rate = 0;  ///< samples/s; 0: the profile's
  double node_rate = 0;        ///< samples/s of all GPUs of one full node; 0: the profile's, which may have none
  MeasuredStep measured;       ///< of what is asked for
  /// Samples/s of one GPU by its name in the catalogue: `h100` means `h100-sxm` too.
  std::map<std::string, double, std::less<>> gpu_rates;
  /// Of the training, by name. Empty: float32 of measured runs on CPU cores, tf32 on GPUs, and on clusters that of
  /// their rates; `usual`: the usual one on all clusters.
  std::string precision;
  Recomputation recomputation = Recomputation::none;  ///< of predictions; a measured step keeps all activations
  std::optional<OptimizerChoice> optimizer = {};      ///< none: `TrainingStrategy::optimizer`
  bool overlap = true;
  /// Servers are predicted only where an algorithm names them: a usual placement of theirs is no wish for them, and
  /// nobody chooses a cluster for servers today.
  bool rings_alone = false;
  bool of_engine = false;  ///< what is simulated stands beside steps of hbench's own ranks, and is of its engine

  /// Whether some of the evidence has this property (`analysis/records/evidence.hpp`).
  bool asks(bool (*property)(Evidence)) const { return std::ranges::any_of(evidence, property); }
  /// Returns whether steps without a preset are simulated as hbench's own engine does them, as emulated ones are.
  bool predicts_engine() const { return of_engine || evidence.contains(Evidence::emulated); }
  /// Returns whether the usual workloads are predicted on the usual clusters: Horovod's rings against servers.
  bool is_usual() const { return workloads.empty() && profiles.empty(); }
  /// Samples/s that were given for GPUs of this name; 0: none.
  double rate_on(std::string_view gpu) const;
  /// Refuses `gpu_rates` of which no cluster's GPU has one, and a name that is no GPU's. \throws Error (usage).
  void check_gpu_rates(const std::set<std::string_view>& of_clusters, const std::set<std::string_view>& known) const;
};

/// `h100=300,a100=150`. \throws Error (usage).
std::map<std::string, double, std::less<>> parse_gpu_rates(std::string_view text);

/// Whether frameworks were asked for, and nothing beside them.
bool only_presets(const PredictionRequest& request);

/// A combination that was not planned.
struct Refusal {
  std::string what;
  std::string why;

  friend bool operator==(const Refusal&, const Refusal&) = default;
};
/// Adds a refusal that is not there yet.
void refuse(std::vector<Refusal>& refused, std::string what, std::string why);
/// Returns `<what>, <what>: <why>; ...` on one line: each reason once, in the order of their first. Of a thing's
/// reasons that are alike up to a semicolon the first is said.
std::string reasons(const std::vector<Refusal>& refused);

/// A GPU's part of a step.
struct GpuBatch {
  int batch = 0;        ///< samples per GPU and step, all micro-batches together
  int accumulate = 0;   ///< micro-batches; 0: one
  std::string why_not;  ///< why there is none: a sentence with the nearest global batches; empty: there is one
};

/// The batch of each of `workers` workers, of which `usual` is a micro-batch where nobody asked for another.
GpuBatch gpu_batch(const PredictionRequest& request, int workers, int usual);

/// What a reader of curves must know of batches: `strong scaling: 8192 samples a step at every GPU count`. Empty for
/// weak scaling without accumulation.
std::string batches_in_words(const PredictionRequest& request);

/// A number above 0 with one of `units`, as `flag` takes it. \throws Error (usage) that quotes the text and `example`.
double parse_flag_amount(std::string_view text, std::string_view flag, std::initializer_list<Unit> units,
                         std::string_view example);
/// The efficiency that --target asks for: `90%` or `0.9`, at most 1. \throws Error (usage).
double parse_target_efficiency(std::string_view text);

/// The thing that people count, GPUs or nodes, for messages.
struct CountedThing {
  std::string_view flag;  ///< `--gpus`
  std::string_view name;  ///< `GPU`
  int most = 0;
};
/// `parse_gpu_range` for other things than GPUs.
std::vector<int> parse_count_range(std::string_view text, const CountedThing& thing);

/// GPU counts as people write them: `8`, `1,2,4`, `1..128` (doubling, the end included), `1..12:1` (steps of
/// 1). Ascending, without repeats. \throws Error (usage) that quotes `text` and says how to write it.
std::vector<int> parse_gpu_range(std::string_view text);

}  // namespace hbench
