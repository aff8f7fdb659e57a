#pragma once

/// The tensors of a recorded job: their sizes from whatever has them, and only where they agree with the rest.

#include <string>
#include <utility>
#include <vector>

#include "analysis/jobs/job.hpp"

namespace hbench {

/// Names (empty: not known) and elements, in the order in which the gradients become ready.
struct JobTensors {
  std::vector<std::pair<std::string, std::int64_t>> list;  ///< empty: not known
  std::string known_as;                                    ///< the timeline that they are of; empty: they were recorded
};

/// Returns the tensors of a step of the job: as recorded, as a file of `sizes` has them, or those of one of the known
/// timelines whose sizes add up to those of all buckets. \throws Error (usage) where the timeline that was asked for
/// does not fit.
JobTensors job_tensors(const Job& job, const RecordedStep& step, const std::vector<Recording>& sizes,
                       const JobRequest& request);

}  // namespace hbench
