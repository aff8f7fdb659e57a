#pragma once

/// What makes a job of its recordings (`job.cpp`): which of their steps are alike, what these exchange, and of which
/// tensors.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/job/recording.hpp"
#include "workloads/step/trace.hpp"

namespace hbench {

/// A step with its exchanges of gradients, in the order of their launches: all-reduces in the backward pass, or the
/// reduce-scatters of sharded jobs; or all-reduces after it, in the order of their gradients. Points into the
/// recordings.
struct ComparedStep {
  const RecordedStep* recorded = nullptr;
  std::vector<const RecordedCollective*> exchanges;
  /// Of each, how long it took beyond those that had begun before it: a library may run several at a time, which share
  /// the network. They add up to the time in which any was on its way. Absent where it is not known.
  std::vector<std::optional<Seconds>> durations;
  /// Their sum; absent where one is not known.
  std::optional<Seconds> in_exchanges;
};

/// The steps that are compared: those of the shape that most steps have.
struct JobSteps {
  std::string group;  ///< of ranks that exchange gradients; empty where the recorder names none
  /// By recording; points into the recordings. A rank may have none.
  std::vector<std::vector<ComparedStep>> ranks;
  int others = 0;  ///< steps of another shape, such as DDP's first ones, in which it has other buckets
};

/// Whether its gradients are exchanged in one go after the backward pass.
bool reduces_late(const ComparedStep& step);

/// Finds them. `group` is the one that was asked for; empty: the only one. \throws Error (usage) where several groups
/// exchange gradients and none was asked for, or one that does not. \pre each recording has a step.
JobSteps comparable_steps(const std::vector<Recording>& recordings, const std::string& group);

/// Whether an exchange carries gradients of this group of ranks.
bool carries_gradients(const RecordedCollective& exchange, const std::string& group);

/// Returns in words how two ranks differ, of which no step of one is like a step of the other: by the size of an
/// exchange, where both have as many gradients and exchanges, else by their numbers. \pre each has a step.
std::string difference_of(const Recording& one, const Recording& other, const std::string& group);

/// The steps by which a job is described, the fastest first: each one that a rank has, as the rank saw it that all
/// waited for, which in a blocking collective is the one that is in collectives for the shortest time. Steps are the
/// same where they have the same name. \pre the rank has a step.
std::vector<ComparedStep> steps_of_last_ranks(const JobSteps& steps, std::size_t rank);

/// Without the fastest and the slowest quarter. \pre steps in the order of their times.
std::vector<ComparedStep> middle_half(const std::vector<ComparedStep>& steps);

/// The mean over steps of what a function gives, since the parts of a step add up to its mean, as their medians do not;
/// absent where it is absent in one of them. \pre there is a step.
template <class Value>
std::optional<Seconds> mean_of(const std::vector<ComparedStep>& steps, Value value) {
  Seconds sum;
  for (const ComparedStep& step : steps) {
    const std::optional<Seconds> each = value(step);
    if (!each) return std::nullopt;
    sum += *each;
  }
  return sum / static_cast<double>(steps.size());
}

/// Jobs may reduce their gradients in one go after the backward pass: without hooks, under `no_sync`, in the
/// optimizer's step. Finds the steps whose all-reduces after the backward pass have as many elements as the gradients
/// together, and lets these exchanges carry gradients instead of those of the backward pass (`in_backward`, `exposed`).
/// Others, such as of losses, may be launched before and after them. Where each is a run of gradients in the order in
/// which these became ready, or in the opposite order, which is that of parameters, `gradients_before` says so. Where
/// sizes are not known or do not add up nothing changes, but for the rest of gradients of which others left in the
/// backward pass. \param group of ranks, by the recorder's name; empty: any, of
/// which only one may fit.
void find_late_exchanges(std::vector<Recording>& recordings, const std::string& group);

/// The tensors of a job: names (empty: not known) and elements, in the order in which the gradients become ready.
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
  std::vector<Trace> known;  ///< timelines whose tensors these may be
  std::string asked;         ///< the one of `known` that the person named; empty: the one that fits all groups
};

/// Returns the tensors of a step whose gradients travelled in `groups`: as recorded, else as one of the sources has
/// them whose sizes add up to those of all groups. \throws Error (usage) where the timeline that was asked for does not
/// fit.
JobTensors job_tensors(const RecordedStep& step, const std::vector<TensorGroup>& groups, const TensorSources& sources);

/// The exchanges that had not completed when a job was recorded.
struct UnfinishedWork {
  /// What the job waited for, in a sentence of some 30 words: how many exchanges had not completed, the one of them
  /// that was launched first, and which ranks did something else. Empty where it did not hang.
  std::string hang;
  /// Names what was only in flight, or reports that it may as well be a hang; empty: neither.
  std::string note;
};

/// Returns both empty where all exchanges had completed, or the recorders do not see it. A job is known to run where
/// its steps are, a rank has completed the first of the exchanges, and it waited for less than a few steps.
UnfinishedWork unfinished_work(const std::vector<Recording>& recordings);

}  // namespace hbench
