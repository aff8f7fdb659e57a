#pragma once

/// What one rank does in `hbench collective`: check, warm up, time, alternating between the candidates of one size.
///
/// One function for ranks that are processes and ranks that are threads. Times are wall time of this rank; the time of
/// an iteration is the slowest rank's, which whoever reads the samples computes.

#include <functional>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"
#include "bench/worker/candidate.hpp"
#include "bench/worker/gpu_observations.hpp"
#include "bench/worker/loop_memory.hpp"
#include "bench/worker/rank_resources.hpp"
#include "collectives/cuda/gpu_facts.hpp"

namespace hbench {

/// What became of a case: samples of all ranks, or the reason why it cannot be done here.
struct LoopResult {
  int index = 0;
  std::string refusal;
  std::vector<Sample> samples;
};

/// Where rank 0 tells what happens; other ranks do not call it.
struct LoopReport {
  /// These cases are next, together.
  std::function<void(const std::vector<int>& indices)> begin;
  /// On this one of them, from now on or still: at least once in a time-out while iterations end within it.
  std::function<void(int index)> working;
  std::function<void(const LoopResult& result)> end;
};

/// Consecutive cases of one size take turns: A B, B A, A B, B A. Runs on all ranks with the same cases. GPUs are looked
/// at before and after the timed iterations of each turn, never between them (`analysis/records/machine_facts.hpp`).
/// \throws Error (lost_rank) that names who is late.
void run_loop(const std::vector<LoopCase>& cases, const LoopOptions& options, RankEndpoints& endpoints,
              const PeerSet& peers, const LoopReport& report, const WatchDevice& watch = watch_by_driver);

}  // namespace hbench
