#pragma once

#include <functional>
#include <string>

#include "analysis/records.hpp"
#include "bench/environment.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

/// How measured cases are run.
struct MeasureOptions {
  std::string program;  ///< path of hbench itself
  int launches = 3;     ///< fresh processes for each case; the launch is the unit of repetition
  int warmup_steps = 3;
  int steps = 20;       ///< timed steps of a launch, at most
  Seconds budget{3};    ///< of the timed steps of a launch
  Seconds timeout{60};  ///< a collective, or silence
  Host host = this_host();
};

/// Runs every launch of a measured case in processes of its own; a lost or hung rank makes the case a failed one
/// with its name in the reason, and no process stays behind. `on_launch(n)` is told before launch n.
/// \throws Error (environment) when the launcher is missing.
CaseResult measure(const Case& asked, const MeasureOptions& options, const std::function<void(int launch)>& on_launch);

}  // namespace hbench
