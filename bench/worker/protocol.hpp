#pragma once

/// The orders that a worker receives and the messages that it sends: JSON, one object per line. Workers never see the
/// database.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/records/records.hpp"
#include "bench/worker/process_identity.hpp"
#include "bench/worker/rank_loop.hpp"
#include "bench/worker/speed_probe.hpp"
#include "collectives/base/library.hpp"
#include "collectives/base/span.hpp"
#include "collectives/base/test_delay.hpp"
#include "collectives/base/units.hpp"
#include "collectives/transport/emulated_transport.hpp"
#include "workloads/models/own_model.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// What makes a launch an emulated one: a timeline in the place of a model, on slowed links.
struct EmulationOrder {
  ReplayRequest replay;  ///< tensors without names
  EmulatedCosts costs;
  Seconds polling;  ///< as `TrainingRequest::polling`
};

/// One launch of one measured or emulated case.
struct WorkOrder {
  Case asked;
  int warmup_steps = 3;
  int steps = 20;
  Seconds budget{0};  ///< of the timed steps
  Seconds timeout{60};
  int traced_steps = 0;  ///< after the timed ones
  TestDelay delay;
  std::optional<EmulationOrder> emulation = {};
  std::optional<OwnModel> own = {};  ///< that `asked.workload` names
  unsigned seed = 1;
  std::optional<CheckpointRequest> checkpoint = {};
  std::vector<PlantedFault> faults = {};
};

/// One launch of collectives. Equal on all ranks.
struct CollectiveOrder {
  LoopOptions options;
  std::vector<LoopCase> cases;
  int ranks = 1;         ///< processes, or threads of one
  bool threads = false;  ///< ranks are threads of this process
};

std::string to_json(const CollectiveOrder& order);
/// Nothing for an order of another kind. \throws Error (internal) for what `to_json` does not write.
std::optional<CollectiveOrder> parse_collective_order(std::string_view json);

std::string to_json(const WorkOrder& order);
/// \throws Error (internal) for what `to_json` does not write.
WorkOrder parse_work_order(std::string_view json);

std::string to_json(const ProbeOrder& order);
/// Nothing for an order of another kind. \throws Error (internal) for what `to_json` does not write.
std::optional<ProbeOrder> parse_probe_order(std::string_view json);

/// A rank has started.
struct HelloLine {
  int rank = 0;
  ProcessIdentity process;
};
/// A rank has finished a step.
struct StepLine {
  int rank = 0;
  int iteration = 0;
  bool warmup = false;
  double seconds = 0;
  std::optional<double> exposed = {};  ///< none: the rank does not know
};
/// Some spans of a rank's traced step, said by rank 0 for all after their last step so that none pays for it.
struct SpansLine {
  int rank = 0;
  int iteration = 0;
  std::vector<Span> spans;
};
/// A rank has finished.
struct DoneLine {
  int rank = 0;
  std::string digest;
};
/// A rank gives up.
struct FailureLine {
  int rank = 0;
  int exit_code = 1;
  std::string message;
};
/// The cases of a collective order that are next, together. Of collectives rank 0 alone speaks: long lines of several
/// ranks would mix in the launcher.
struct SizeLine {
  int rank = 0;
  std::vector<int> cases;
};
/// The case that is running; of a probe the pass.
struct WorkingLine {
  int rank = 0;
  int index = 0;
};
/// Some samples of a case: consecutive iterations of one rank.
struct SamplesLine {
  int rank = 0;  ///< that was measured
  int index = 0;
  std::string metric;
  std::string unit;
  bool warmup = false;
  int first = 0;  ///< iteration of the first value
  std::vector<double> values;
};
std::vector<Sample> samples_of(const SamplesLine& line, int launch);
/// A case has ended.
struct CaseLine {
  int rank = 0;
  int index = 0;
  std::string refusal;  ///< why it could not be done; empty when it was
};
/// What `ProbeReport` says of one host, or of two.
struct SpeedLine {
  int rank = 0;
  std::optional<int> peer;     ///< none: it is how fast the host of `rank` computes
  std::vector<double> values;  ///< by pass
};
/// A rank has done something with a checkpoint.
struct CheckpointLine {
  int rank = 0;
  CheckpointReport report;
};
using WorkerLine = std::variant<HelloLine, StepLine, SpansLine, DoneLine, FailureLine, SizeLine, WorkingLine,
                                SamplesLine, CaseLine, SpeedLine, CheckpointLine>;

std::string to_json(const WorkerLine& line);
/// Nothing for a line that no worker of ours wrote (a library's warning, say).
std::optional<WorkerLine> parse_worker_line(std::string_view text);

/// What `hbench-worker facts` answers about the libraries that only the worker is linked with.
struct WorkerFacts {
  std::map<std::string, std::string> torch;  ///< as `torch_facts`
  std::string mpi;                           ///< as `mpi_library`
  std::string nccl;                          ///< as `nccl_version`
  Availability gpu_training;                 ///< as `gpu_training_availability`
};

/// Of the libraries of this very process. Asks the GPU's driver.
WorkerFacts own_facts();

/// One line.
std::string to_json(const WorkerFacts& facts);
/// \throws Error (internal) for what `to_json` does not write.
WorkerFacts parse_worker_facts(std::string_view text);

}  // namespace hbench
