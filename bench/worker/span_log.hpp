#pragma once

#include <vector>

#include "bench/worker/rank.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

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
