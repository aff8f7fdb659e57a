#pragma once

/// What simulating a step will cost, counted before anything is built: schedules of large worlds have billions of
/// transfers.

#include <cstdint>

#include "collectives/network/profile.hpp"
#include "workloads/simulation/step_simulator.hpp"

namespace hbench {

/// The most that is in memory at once.
struct SimulationNeed {
  std::int64_t transfers = 0;  ///< of the schedules
  std::int64_t bytes = 0;
};

/// An upper bound: a schedule while it is prepared, what is kept of the times of its chunks, and every bucket that can
/// be in flight. \pre as for `StepSimulator::run`.
SimulationNeed simulation_need(const World& world, const StepTimeline& timeline, const TrainingStrategy& strategy);

/// The most workers, fewer than `world.workers`, whose simulation fits into `bytes`, with as many workers per server;
/// 0 where none do. \pre `world` is not refused.
int workers_that_fit(const World& world, const StepTimeline& timeline, const TrainingStrategy& strategy,
                     std::int64_t bytes);

/// Processor time of the three runs that give a step and its band, within a factor of about three on a core of a
/// server. \pre as for `StepSimulator::run`.
Seconds simulation_time(const Profile& profile, const World& world, const StepTimeline& timeline,
                        const TrainingStrategy& strategy);

}  // namespace hbench
