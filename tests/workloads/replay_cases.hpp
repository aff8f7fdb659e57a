#pragma once

// What the tests of replayed steps share: a timeline, and all ranks that replay it as threads.

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/support/matchers.hpp"
#include "tests/workloads/engine_ranks.hpp"
#include "workloads/engine/replay.hpp"

namespace hbench {

/// 30 ms and a gradient that is longer than the pattern repeats.
inline ReplayRequest small_replay(double dilation = 1) {
  ReplayRequest replayed;
  replayed.timeline = {.batch = 2, .forward = Seconds(0.01), .backward = Seconds(0.02)};
  replayed.timeline.gradients = {
      {"head", 1000, Seconds(0.005)}, {"body", 140'000, Seconds(0.015)}, {"stem", 7, Seconds(0.02)}};
  replayed.dilation = dilation;
  return replayed;
}

/// All ranks' steps, and what each ended with.
struct Replayed {
  std::vector<std::string> failures;
  std::vector<StepReport> steps;
  std::map<Rank, Seconds> times;    ///< of all steps of a rank
  std::set<std::uint64_t> digests;  ///< of workers
  Moved sent;                       ///< by a worker in a step, on the mean
};

inline Replayed replay_on(const std::vector<std::unique_ptr<Endpoint>>& endpoints, const TrainingRequest& request,
                          const ReplayRequest& replayed) {
  Replayed all;
  std::mutex mutex;
  all.failures = on_all_ranks(endpoints, [&](Endpoint& endpoint) {
    const Rank rank = endpoint.transport().rank();
    const ReplayEnd end = replay(request, replayed, endpoint, [&](const StepReport& step) {
      const std::scoped_lock lock(mutex);
      all.steps.push_back(step);
      all.times[rank] += step.step;
    });
    const std::scoped_lock lock(mutex);
    if (rank >= request.world.workers) return;
    all.digests.insert(end.training.digest);
    all.sent += end.training.sent.value() * (1.0 / request.world.workers);
  });
  return all;
}

inline Replayed replay_on_threads(const TrainingRequest& request, const ReplayRequest& replayed) {
  return replay_on(make_thread_endpoints(request.world.ranks()), request, replayed);
}

/// The same, of a job in which nobody fails and whose workers end with equal numbers.
inline Replayed expect_to_end_alike(const TrainingRequest& request, const ReplayRequest& replayed) {
  Replayed all = replay_on_threads(request, replayed);
  EXPECT_THAT(all.failures, Each(IsEmpty()));
  EXPECT_EQ(all.digests.size(), 1U);
  return all;
}

/// Each step of the job takes at least `least`, and one has a `part` below `most`. What else runs on the machine makes
/// a step longer, never shorter, so the job runs up to ten times until one step is hardly disturbed.
template <class Part>
void expect_to_take(const TrainingRequest& request, const ReplayRequest& replayed, Seconds least, Seconds most,
                    Part part) {
  Seconds shortest(1e9);
  for (int run = 0; run < 10 && shortest >= most; ++run)
    for (const StepReport& step : replay_on_threads(request, replayed).steps) {
      EXPECT_GE(step.step, least);
      shortest = std::min(shortest, Seconds(part(step)));
    }
  EXPECT_LT(shortest, most);
}

}  // namespace hbench
