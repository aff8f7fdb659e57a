#pragma once

/// Recorded timelines as workloads: a step measured once (or computed from a model's arithmetic) can be
/// simulated anywhere. One TOML file per trace; `workloads/traces/README.md` documents the format.

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/base/library.hpp"
#include "workloads/step/timeline.hpp"
#include "workloads/step/transformer.hpp"

namespace hbench {

/// Where a timeline was recorded: in somebody's own job, with the exchanges of its ranks.
struct RecordedJob {
  std::string gpu;      ///< as its driver calls it; empty: not known, or none
  int ranks = 0;        ///< that exchanged gradients; 0: not known
  Seconds step;         ///< measured, with what it waited for other ranks
  Seconds replayed;     ///< what the timeline and the job's own exchanges give for it; 0: not known
  bool overlap = true;  ///< gradients left during the backward pass; false: all of them after it

  /// How far the replayed step is from the measured one, on logarithms; 0: not known.
  double error() const;
};

struct Trace {
  std::string name;    ///< `resnet50`
  std::string title;   ///< `ResNet-50`
  std::string source;  ///< how its times are known
  StepTimeline timeline;
  /// Of a recorded job: how many gradients travelled together, in their order; the policy `recorded`. Empty: not known.
  std::vector<int> buckets = {};
  /// Bytes that weights, gradients and optimizer take for each parameter: 12 of SGD with momentum in single precision,
  /// 16 of Adam, in mixed precision too (Rajbhandari et al., ZeRO, SC 2020, section 3.1).
  double state_bytes = 12;
  std::optional<RecordedJob> recorded = {};    ///< absent: not of a recorded job
  std::optional<TransformerShape> shape = {};  ///< of a transformer whose numbers are known
  std::optional<WorkloadCost> cost = {};       ///< of a sample; that of the shape where there is one

  /// Parameters.
  double elements() const;
  /// Whether its times follow from a model's arithmetic by a rule (`source` begins with `computed`): nobody timed them.
  bool computed() const { return source.starts_with("computed"); }
  /// What a GPU must have room for in plain data parallelism, activations not counted.
  Bytes state() const;
  /// The fusion policy of the recorded buckets: `recorded:2-15-12`; empty where they are not known.
  std::string recorded_fusion() const;
};

/// Reads a trace. \throws Error (usage) that names `file_name` and the line.
Trace parse_trace(std::string_view toml, std::string_view file_name);
/// The file that `parse_trace` reads back as the same trace, to a nanosecond.
std::string format_trace(const Trace& trace);

/// The trace of a transformer by its published name (`llama3-8b`) or its numbers (`transformer:layers=32,...`),
/// computed and trained with Adam. \throws Error (usage) as `parse_transformer`.
Trace computed_trace(std::string_view name);

/// The traces of a folder.
class TraceLibrary {
 public:
  /// \throws Error (environment) when `folder` cannot be read.
  explicit TraceLibrary(const std::filesystem::path& folder) : files_(folder, "workload") {}
  /// Sorted.
  const std::vector<std::string>& names() const { return files_.names(); }
  /// From now on `load` knows a trace of the user's by its name, in the place of any other.
  void add(Trace trace);
  /// Whether `load` knows a name: a trace that was added, a file of the folder, or a transformer that is computed from
  /// its numbers.
  bool has(std::string_view name) const;
  /// A known name, a path to a trace file (recognised by `/` or `.toml`), or a transformer as `computed_trace` reads
  /// it. \throws Error (usage).
  Trace load(std::string_view name_or_file) const;
  /// The error of a name that `load` does not know, nor what knows `others` too. Recommenders have a reason of their
  /// own: no step here exchanges sparse embeddings.
  Error unknown(std::string_view name, std::span<const std::string> others = {}) const;

 private:
  TomlLibrary files_;
  std::map<std::string, Trace, std::less<>> added_;
};

}  // namespace hbench
