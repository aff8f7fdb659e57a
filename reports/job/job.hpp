#pragma once

#include <optional>
#include <string>

#include "analysis/job/as_recorded.hpp"
#include "analysis/job/job.hpp"
#include "reports/document/document.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// Returns what limits a step of the job and what to do about it, in a sentence of at most 30 words: what takes most
/// time first, and only what its recordings show; of a job that hangs, `TrainingJob::hang`. `predicted` is the job on
/// the profile that was asked for, if one was. Empty for a job without recordings.
std::string job_answer(const TrainingJob& job, const std::optional<PredictedJob>& predicted);
/// Returns what was understood of a job's recordings, for a person who checks it: times of a step, buckets, the rank
/// that is late, and which measurement is missing. `workload_file` is where the workload was written; empty: nowhere.
/// `predicted` is the job on the profile that was asked for, if one was.
Document job_document(const TrainingJob& job, const std::string& workload_file,
                      const std::optional<PredictedJob>& predicted = {});
/// The same as JSON; times in seconds, absent facts as null.
std::string job_json(const TrainingJob& job, const std::string& workload_file,
                     const std::optional<PredictedJob>& predicted = {}, Form form = Form::values);

}  // namespace hbench
