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

/// The median of some times. \pre not empty.
Seconds median(std::vector<Seconds> values);

/// The median over steps of what a function gives; absent where it is absent in one of them. \pre there is a step.
template <class Value>
std::optional<Seconds> median_of(const std::vector<ComparedStep>& steps, Value value) {
  std::vector<Seconds> values;
  for (const ComparedStep& step : steps) {
    const std::optional<Seconds> each = value(step);
    if (!each) return std::nullopt;
    values.push_back(*each);
  }
  return median(std::move(values));
}

/// The median of how long the exchange took that has this place in each step, over the steps that know it; absent where
/// none does.
std::optional<Seconds> exchange_duration(const std::vector<ComparedStep>& steps, std::size_t place);

}  // namespace hbench
