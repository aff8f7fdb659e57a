#pragma once

/// What a measured or emulated case says about its step, or another time that every rank reports per iteration.

#include <cstddef>
#include <string_view>
#include <vector>

#include "analysis/interval.hpp"
#include "analysis/records.hpp"
#include "analysis/statistics.hpp"

namespace hbench {

/// The samples of one metric of a case, warm-up left out.
struct TimedSteps {
  /// Per launch and iteration the step of the slowest rank: nobody is done before the last is.
  Launches launches;
  std::size_t observations = 0;  ///< raw samples, all ranks

  std::size_t iterations() const;
};
TimedSteps timed_steps(const CaseResult& result, std::string_view metric = "step_seconds");

/// The launches of a measured case for which steps of the baseline launch beside them are stored
/// (`metric::kPairedBaseline`), in order. Empty for cases that were measured before launches took turns.
std::vector<PairedLaunch> paired_launches(const CaseResult& result);

}  // namespace hbench
