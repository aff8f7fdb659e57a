#pragma once

#include "analysis/prediction/simulate.hpp"
#include "bench/emulation/emulated_launch.hpp"
#include "bench/sweep/request.hpp"

namespace hbench {

/// How cases are emulated.
struct EmulationOptions {
  double dilation = 0;  ///< 0: chosen for each case
  int cores = 1;        ///< of this machine
  std::vector<EmulatedFault> faults = {};
};

/// What it takes to emulate a planned case: its timeline, the links and costs of its cluster, and a dilation. \throws
/// as `SimulatedRunner::step`.
EmulatedCase emulated_case(const Case& asked, const Catalog& catalog, SimulatedRunner& simulated,
                           const EmulationOptions& options);

/// All launches of a case, one after the other until one fails, with what it is relative to: one GPU of the cluster
/// alone. A launch that this machine was too slow for is repeated in twice as slow a time where the dilation was chosen
/// (`EmulatedCase::stretches`), twice at most: what cores can do is known of one kind of machine.
/// `on_launch(n)` is called before launch n. \throws as `emulate_launch`.
CaseResult emulate(EmulatedCase emulated, const MeasureOptions& options,
                   const std::function<void(int launch)>& on_launch);

}  // namespace hbench
