#pragma once

/// A training job as its recordings show it, and the workload that they make: what a step consists of, which exchanges
/// carry gradients and what is not known. Pure: recordings in, plain data out.

#include <optional>
#include <string>
#include <vector>

#include "analysis/job/recording.hpp"
#include "workloads/step/trace.hpp"

namespace hbench {

/// What the person says beside the files.
struct JobRequest {
  std::string title;  ///< empty: the name of the first file
  int batch = 0;      ///< samples of one rank and step; 0: as the file says
  int ranks = 0;      ///< of the job, where the files do not say it
  std::string group;  ///< the ranks that exchange gradients, by the recorder's name; empty: the only one
  /// Timelines whose tensors a recording without sizes may have.
  std::vector<Trace> known;
  /// The one of `known` whose tensors these are; empty: the one whose sizes add up to those of the buckets.
  std::string tensors;
};

/// Gradients that travelled together.
struct JobBucket {
  std::int64_t elements = 0;        ///< 0: not known
  std::int64_t bytes = 0;           ///< 0: not known
  int tensors = 0;                  ///< 0: not known
  Seconds launched;                 ///< since the step began; not known where the step's time is not
  std::optional<Seconds> duration;  ///< on the rank that came last, which does not wait
};

/// Exchanges that carry no gradients, of one kind.
struct JobTraffic {
  std::string operation;
  int per_step = 0;
  std::int64_t elements = 0, bytes = 0;  ///< of one step; 0: not known
  Seconds alone;                         ///< of one step, with no kernel of the model at work beside it; 0: not known
};

/// The rank for which the others wait.
struct JobStraggler {
  int rank = 0;
  Seconds own, others;  ///< time in collectives per step: its own, and the median of the others
  Seconds costs;        ///< what a step would be shorter if it came when the others do
};

struct TrainingJob {
  std::vector<Recording> recordings;
  int ranks = 0;     ///< that exchange gradients with each other; 0: not known
  std::string type;  ///< of a gradient on its way; empty: not known
  /// By its place in `recordings`: the rank whose steps are shown, since all wait for it.
  std::size_t shown = 0;
  // Means over the middle half of the steps, each of the rank that all waited for, since the step began.
  Seconds step, fastest_step, slowest_step;  ///< 0: not known
  int steps = 0;                             ///< that count
  int other_steps = 0;                       ///< of another shape, such as the first ones of DDP: they do not count
  std::optional<Seconds> forward, backward, compute, optimizer_began, optimizer;
  Seconds update;  ///< after the gradients have arrived: `optimizer` and what follows; not known without `backward`
  /// Neither with a kernel of the model nor waiting for an exchange: the GPU waits for its host. Absent where its
  /// kernels or the backward pass are not known, or it has hardly any kernels.
  std::optional<Seconds> idle;
  std::optional<Seconds> input;  ///< in calls of the data loader; absent where none is recorded
  Seconds communication;         ///< exchanges of gradients, hidden or not; 0: not known
  Seconds exposed;               ///< what of them the step waited for; not known where `backward` is not
  bool overlaps = true;          ///< gradients leave during the backward pass; false: all of them after it
  std::vector<JobBucket> buckets;
  std::vector<JobTraffic> others;
  /// The time for which the GPU waits for parameters in either pass, where the job shards them and exchanges nothing
  /// else; absent of others.
  struct Gathering {
    Seconds forward, backward;
  };
  std::optional<Gathering> gathering;
  std::optional<JobStraggler> straggler;
  std::string tensors_of;  ///< the known timeline that the names and sizes of tensors were taken from; empty: none
  /// What the step takes when the timeline is played with the buckets' own durations; absent where one is not known.
  std::optional<Seconds> replayed;
  /// `UnfinishedWork::hang` of the recordings; where there is one `steps` may be 0, and nothing of a step is known.
  std::string hang;
  std::optional<Trace> workload;     ///< absent where the sizes or times of gradients are not known
  std::vector<std::string> unknown;  ///< in sentences, each with the measurement that is missing
};

/// Makes a job of the recordings of some or all of its ranks. \throws Error (usage) where they are no recordings of one
/// job, where two groups exchange gradients and none was named, where a file has no step, and for tensors that cannot
/// be those of the recording; of a job that hangs only for the first of these. \pre there is a recording.
TrainingJob make_job(std::vector<Recording> recordings, const JobRequest& request);

}  // namespace hbench
