#include "analysis/job/as_recorded.hpp"

#include <fmt/format.h>

#include "analysis/prediction/rate_model.hpp"
#include "analysis/prediction/simulate.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

/// A workload's name that no profile has a rate for: the job has its own.
constexpr const char* kName = "the recorded job";

void check(const TrainingJob& job, const Profile& profile) {
  if (!job.workload)
    throw Error(ExitCode::usage, fmt::format("{} holds too little to predict it", job.recordings[job.shown].file),
                job.unknown.empty() ? "record whole steps" : job.unknown.back());
  if (job.buckets.empty())
    throw Error(ExitCode::usage, "--profile: the job exchanges no gradients, so that nothing is left to predict",
                "give a recording of several ranks, or leave --profile out");
  if (job.ranks == 0)
    throw Error(ExitCode::usage, "--profile: the number of ranks is not in the file", "give it by --ranks");
  if (profile.most_gpus() > 0 && job.ranks > profile.most_gpus())
    throw Error(ExitCode::usage,
                fmt::format("--profile {}: it has {} GPUs at most, and the job {}", profile.name, profile.most_gpus(),
                            job.ranks),
                "give the profile of the cluster where it ran");
}

TrainingStrategy strategy_of_job(const TrainingJob& job) {
  TrainingStrategy strategy;
  strategy.algorithm = parse_algorithm_rule("ring");
  if (job.type == "bfloat16" || job.type == "float16")
    strategy.compressor = parse_compressor(job.type == "bfloat16" ? "bf16" : "fp16");
  strategy.fusion = parse_fusion(job.workload->recorded_fusion());
  strategy.overlap = job.overlaps;
  return strategy;
}

}  // namespace

PredictedJob predict_as_recorded(const TrainingJob& job, const Profile& profile, std::int64_t memory) {
  check(job, profile);
  Case job_here{.workload = kName, .gpus = job.ranks, .nodes = profile.nodes_of(job.ranks), .profile = profile.name};
  job_here.batch_per_gpu = job.workload->timeline.batch;
  const PlannedCase step = planned(job_here, strategy_of_job(job));
  const Strategy& strategy = step.asked.strategy;
  Catalog catalog;
  catalog.profiles.emplace(profile.name, profile);
  Trace& trace = catalog.traces.emplace(kName, *job.workload).first->second;
  trace.name = kName;
  if (const std::string why = refuse_simulation(step, catalog, memory); !why.empty())
    throw Error(ExitCode::environment, fmt::format("--profile {}: the job {}", profile.name, why));
  const SimulatedStep predicted = SimulatedRunner(catalog).step(step);
  const StepTimes& times = predicted.times;
  PredictedJob result{.profile = profile.name,
                      .strategy = strategy.algorithm + (strategy.compresses() ? " + " + strategy.compressor : ""),
                      .other_gpu = is_recorded_on(trace, profile) ? "" : profile.gpu,
                      .ranks = job.ranks,
                      .nodes = job_here.nodes,
                      .step = times.step,
                      .low = predicted.low,
                      .high = predicted.high,
                      .compute = times.step - times.exposed,
                      .exposed = times.exposed};
  result.error = times.step / job.step - 1;
  result.step_difference = times.step - job.step;
  result.exposed_difference = times.exposed - job.exposed;
  result.compute_difference = result.step_difference - result.exposed_difference;
  return result;
}

}  // namespace hbench
