#pragma once

/// What one rank does in `hbench collective`: check, warm up, time, alternating between the candidates of one size.
///
/// One function for ranks that are processes and ranks that are threads. Times are wall time of this rank; the time of
/// an iteration is the slowest rank's, which whoever reads the samples computes.

#include <functional>
#include <string>
#include <vector>

#include "analysis/records.hpp"
#include "bench/worker/gpu_observations.hpp"
#include "bench/worker/peer.hpp"
#include "bench/worker/rank_endpoints.hpp"
#include "collectives/base/test_delay.hpp"
#include "collectives/base/units.hpp"
#include "collectives/cuda/gpu_facts.hpp"
#include "collectives/endpoints/endpoint.hpp"

namespace hbench {

/// How each size is measured.
struct LoopOptions {
  int warmups = 5;
  int iterations = 0;        ///< timed ones of each candidate; 0: by size and budget, agreed by rank 0
  bool check = true;         ///< before it is timed; a size that fails is not timed
  bool out_of_place = true;  ///< also time a copy of the input followed by the collective in place
  Seconds budget{0.3};       ///< of the timed iterations of one candidate, each of the two ways
  Seconds timeout{60};
  TestDelay delay;  ///< of one rank, in each iteration of a candidate
};

/// A case with the buffers that travel, in elements; several are all-reduced one after another.
struct LoopCase {
  int index = 0;  ///< the caller's number of it
  Case asked;
  std::vector<std::int64_t> tensors;
};

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
/// at before and after the timed iterations of each turn, never between them (`analysis/throttling.hpp`).
/// \throws Error (lost_rank) that names who is late.
void run_loop(const std::vector<LoopCase>& cases, const LoopOptions& options, RankEndpoints& endpoints,
              const PeerSet& peers, const LoopReport& report, const WatchDevice& watch = watch_by_driver);

}  // namespace hbench
