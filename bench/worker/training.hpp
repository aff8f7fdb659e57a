#pragma once

/// The ranks of a measured or emulated training step in a process of their own: what `hbench-worker worker` does with a
/// work order.

#include <vector>

#include "bench/worker/protocol.hpp"
#include "bench/worker/rank.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// Runs the order, this process being one rank or, where its executor's ranks are threads, all of them. The exit code;
/// ranks that fail have said why.
ExitCode run_training_worker(const WorkOrder& order, const Say& say);

/// One rank of an emulated launch: replays its timeline on the links that this process finds itself on. It is bound to
/// no core, since ranks share them. \pre `order.emulation`
ExitCode run_emulated_worker(const WorkOrder& order, const Say& say);

/// Says what a rank's training has come to, as its last lines.
void tell_end(Rank rank, const TrainingEnd& end, const Say& say);

/// An order in the words of the training engine.
TrainingRequest training_request(const WorkOrder& order);

/// The spans of traced steps, said by rank 0 when all steps are done: long lines of several ranks would mix in the
/// launcher.
class SpanLog {
 public:
  void keep(const StepReport& step);
  /// Called by all ranks. `endpoint` is null where there is one alone.
  void tell(Endpoint* endpoint, Seconds timeout, const Say& say);

 private:
  /// Ranks of one host share a clock; spans of other hosts' are moved to rank 0's.
  void to_clock_of_first(Transport& transport, Seconds timeout);

  std::vector<double> numbers_;  ///< `kNumbers` for each span
};

}  // namespace hbench
