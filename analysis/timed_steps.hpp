#pragma once

/// What a measured or emulated case says about its step.

#include <cstddef>

#include "analysis/records.hpp"
#include "analysis/statistics.hpp"

namespace hbench {

/// The `step_seconds` of a case, warm-up left out.
struct TimedSteps {
  /// Per launch and iteration the step of the slowest rank: nobody is done before the last is.
  Launches launches;
  std::size_t observations = 0;  ///< raw samples, all ranks

  std::size_t iterations() const;
};
TimedSteps timed_steps(const CaseResult& result);

}  // namespace hbench
