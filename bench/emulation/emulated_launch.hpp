#pragma once

/// Emulated cases and their launches: real processes, fusion policy, schedule, compressor and sockets, on links that
/// are slowed to a cluster's, with replayed compute; all of it dilated by one factor.

#include "analysis/prediction/one_gpu.hpp"
#include "analysis/prediction/simulate.hpp"
#include "bench/emulation/cluster.hpp"
#include "bench/emulation/dilation.hpp"
#include "bench/sweep/measure.hpp"
#include "bench/sweep/request.hpp"
#include "workloads/step/step_memory.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// For so much of the time the processors may have nothing left to give (`metric::kEmulatedBusy`), or the launch is
/// void.
inline constexpr double kMostBusy = 0.1;

struct EmulatedCase {
  PlannedCase planned;
  ReplayRequest replay;  ///< of the case's GPU and batch; the dilation is the cluster's
  OneGpu one_gpu;        ///< the speed that it has
  StepMemory memory;     ///< what the cluster's GPU keeps
  EmulatedCluster cluster;
  bool stretches = false;  ///< the dilation was chosen, and may be doubled where this machine is too slow for it
  Seconds expected;        ///< of a step, simulated; not dilated
  Seconds latency;         ///< of a message between nodes; not dilated
  std::vector<EmulatedFault> faults;
};

/// How cases are emulated.
struct EmulationOptions {
  double dilation = 0;  ///< 0: chosen for each case
  int cores = 1;        ///< of this machine
  std::vector<EmulatedFault> faults = {};
};

/// What is still to be done to start processes on emulated hosts here; available where root, or a user of a kernel
/// with user namespaces, finds ip, tc and what the kernel must have. Tries it: takes some tens of milliseconds.
Availability emulation_availability();

/// What two emulated hosts send to each other, both ways together, over links that are not slowed: what copying by this
/// machine's cores allows. Takes a second. None where it cannot be measured.
std::optional<BytesPerSecond> emulation_capacity();

/// \throws Error (environment) where the launcher is missing. A launch on links that do not keep their rate, or on
/// processors that were not idle enough, is void: it fails with that reason, and its steps are not kept.
LaunchOutcome emulate_launch(const EmulatedCase& emulated, const MeasureOptions& options, int launch);

/// The faults that a test plants: the variable HBENCH_EMULATED_FAULT. \throws Error (usage) as `parse_emulated_faults`.
std::vector<EmulatedFault> emulated_faults();

/// About how long it takes.
Seconds emulated_launch_time(const EmulatedCase& emulated, const MeasureOptions& options);

/// What it takes to emulate a planned case: its timeline, the links and costs of its cluster, and a dilation. \throws
/// as `SimulatedRunner::step`.
EmulatedCase emulated_case(const PlannedCase& planned, const Catalog& catalog, SimulatedRunner& simulated,
                           const EmulationOptions& options);

/// All launches of a case, one after the other until one fails, with what it is relative to: one GPU of the cluster
/// alone. A launch that this machine was too slow for is repeated in twice as slow a time where the dilation was chosen
/// (`EmulatedCase::stretches`), twice at most: what cores can do is known of one kind of machine.
/// `on_launch(n)` is called before launch n. \throws as `emulate_launch`.
CaseResult emulate(EmulatedCase emulated, const MeasureOptions& options,
                   const std::function<void(int launch)>& on_launch);

}  // namespace hbench
