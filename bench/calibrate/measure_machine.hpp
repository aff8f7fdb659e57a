#pragma once

/// Measures what a cluster of nodes like this machine needs to know of it, in processes of their own.
///
/// The all-reduces that a link is fitted to: `hbench collective` in a process of its own, as people run it.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/fit/machine_profile.hpp"
#include "bench/sweep/measure.hpp"
#include "bench/sweep/measured_place.hpp"
#include "workloads/step/trace.hpp"
#include "workloads/training.hpp"

namespace hbench {

/// Returns the executor that times the ring of `ranks` ranks at a place, or why none can.
ExecutorChoice link_executor(const MeasuredPlace& place, int ranks);

/// The link between `ranks` ranks, and in words what was measured on what; rates are still to be added. With one rank
/// nothing is measured. \throws Error when no executor can, or ranks are lost.
MachineFigures measure_machine(const MeasuredPlace& place, int ranks, const std::string& program);

/// `2 ranks: 3.1 us and 5.2 GB/s a message; on 7 sizes that it has not seen the fit is off by 12 % on average, ...`
std::string link_in_words(const MachineFigures& machine);

/// From a measured case of one process without communication, as stored. \throws Error when it failed.
GpuRate rate_of(const CaseResult& baseline, const std::string& how);

/// Records steps in this process, as the timeline of a workload of this name. \throws Error without LibTorch.
Trace recorded_trace(const RecordingRequest& request, const std::string& name);

/// `ResNet-18 at 64 x 64: 62 tensors, 46.8 MB of gradients, forward 50 ms, backward 100 ms, 100.0 samples/s`
std::string trace_in_words(const Trace& trace);

struct LinkRequest {
  std::string program;   ///< path of hbench-worker
  std::string executor;  ///< by name
  int ranks = 2;
  bool on_gpu = false;  ///< larger sizes then
};

/// The arguments of the child.
std::vector<std::string> link_arguments(const LinkRequest& request);

/// What `hbench collective --json` printed, as medians in place, in its order. \throws Error with the reason of a case
/// that failed, (internal) for text that is no such JSON.
std::vector<TimedSize> timed_sizes(std::string_view json);

/// A link, and what it was fitted to.
struct MeasuredLink {
  LinkFit fit;
  std::vector<TimedSize> timed;
};

/// Times a ring and fits it; up to three times while the times are no curve, as on a machine that is busy for a short
/// time. \throws Error as the child complained, or as `fit_link` does of the last times.
MeasuredLink measure_link(const LinkRequest& request);

}  // namespace hbench
