#pragma once

/// Traced steps in the Trace Event Format of Chrome, which Perfetto (ui.perfetto.dev) and chrome://tracing open:
/// "Trace Event Format", docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU, the JSON object form.

#include <string>
#include <vector>

#include "analysis/records/records.hpp"

namespace hbench {

/// The traced steps of one case.
struct TraceFile {
  std::string title;     ///< of the case
  std::string evidence;  ///< `measured`, `simulated`
  std::vector<TracedStep> steps;
};

/// Each rank of each launch is a process; its compute thread is a thread, and so is each row that its buckets need
/// where they overlap. Spans are complete events (`ph` X) in microseconds since the launch's first span.
std::string perfetto_json(const TraceFile& trace);

}  // namespace hbench
