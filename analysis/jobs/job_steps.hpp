#pragma once

/// Which steps of a job's recordings are alike, and what they exchange. Used by what makes a job of them.

#include <optional>
#include <string>
#include <vector>

#include "analysis/jobs/recording.hpp"

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

}  // namespace hbench
