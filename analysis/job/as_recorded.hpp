#pragma once

/// A recorded job predicted where it was measured: how far off predictions of the same job are elsewhere.

#include <cstdint>
#include <string>

#include "analysis/job/job.hpp"
#include "collectives/network/profile.hpp"

namespace hbench {

/// One step of the job on the cluster that it ran on, from its timeline, its buckets and the cluster's profile alone.
struct PredictedJob {
  std::string profile;       ///< by name
  std::string strategy;      ///< `ring`, `ring + bf16`: as gradients travelled, by their type
  std::string other_gpu;     ///< the profile's GPU, where it is not known to be the recorded one; else empty
  int ranks = 0, nodes = 0;  ///< the profile's nodes are full
  Seconds step, low, high;   ///< with the 90 % band
  Seconds compute;           ///< passes of the slowest rank and update
  Seconds exposed;
  /// The predicted step over the measured one, less 1; likewise in seconds, of the parts that a step consists of.
  double error = 0;
  Seconds step_difference, compute_difference, exposed_difference;
};

/// Predicts `job` as `sweep --fusion recorded` predicts its workload. `memory` is what a simulation may take, in bytes.
/// \throws Error (usage) for a job without a workload or a number of ranks, for one that exchanges nothing, and for
/// more ranks than the cluster has; (environment) where memory is short.
PredictedJob predict_as_recorded(const TrainingJob& job, const Profile& profile, std::int64_t memory);

}  // namespace hbench
