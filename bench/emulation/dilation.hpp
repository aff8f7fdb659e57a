#pragma once

/// By how much time is stretched, so that this machine can carry what a cluster does. Pure.

#include "collectives/network/profile.hpp"
#include "workloads/step/strategy.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {

/// What is emulated, as the simulator takes it.
struct EmulatedStep {
  const Profile& profile;
  const World& world;
  const StepTimeline& timeline;
  const TrainingStrategy& strategy;
};

/// Returns the time of a step on a cluster whose links carry no more than `cores` cores can copy in dilated time,
/// shared evenly by all ranks, and whose messages take no less than they take here. Not dilated.
Seconds step_on_machine(const EmulatedStep& step, double dilation, int cores);

/// The least of 1, 1.5, 2, 3, 5, 7, 10, 15 ... at which that step is at most a hundredth longer than the cluster's, and
/// at which a step keeps the cores busy for half of its time at most.
double choose_dilation(const EmulatedStep& step, int cores);

/// Ranks that share this machine.
struct SharedCores {
  int ranks = 1;
  int cores = 1;
  bool servers = false;  ///< some are parameter servers, which have many messages to look at
};

/// Returns the interval at which each of `shared.ranks` ranks looks for messages: half of a message's latency, but no
/// shorter than a fifth of the cores is enough for, and no longer than two milliseconds where that is enough.
Seconds emulated_polling(Seconds latency, double dilation, const SharedCores& shared);

}  // namespace hbench
