#pragma once

/// The tensors of a recorded job: their sizes from whatever has them, and only where they agree with the rest.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/jobs/recording.hpp"
#include "workloads/step/trace.hpp"

namespace hbench {

/// Names (empty: not known) and elements, in the order in which the gradients become ready.
struct JobTensors {
  std::vector<std::pair<std::string, std::int64_t>> list;  ///< empty: not known
  std::string known_as;                                    ///< the timeline that they are of; empty: they were recorded
};

/// Gradients that travelled together: how many (0: not known), and their elements (0: not known).
struct TensorGroup {
  int tensors = 0;
  std::int64_t elements = 0;
};

/// Where sizes may come from that a recording does not have.
struct TensorSources {
  std::vector<Recording> files;  ///< of the same job, with sizes and no times
  std::vector<Trace> known;      ///< timelines whose tensors these may be
  std::string asked;             ///< the one of `known` that the person named; empty: the one that fits all groups
};

/// Returns the tensors of a step whose gradients travelled in `groups`: as recorded, else as one of the sources has
/// them whose sizes add up to those of all groups. \throws Error (usage) where the timeline that was asked for does not
/// fit.
JobTensors job_tensors(const RecordedStep& step, const std::vector<TensorGroup>& groups, const TensorSources& sources);

}  // namespace hbench
