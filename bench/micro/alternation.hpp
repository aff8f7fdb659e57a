#pragma once

/// Comparing two pieces of work of one thread on a machine whose speed changes: they take turns, and medians are
/// compared. Time is the thread's own (CPU time): while others have the core, no clock runs.

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <vector>

namespace hbench {

/// Medians of what each of two pieces of work took, in seconds.
struct Alternation {
  double work = 0;
  double reference = 0;
};

inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Runs both in turn, as long as `state` wants; reports the time of `work`.
template <class Work, class Reference>
Alternation alternate(benchmark::State& state, Work work, Reference reference) {
  std::vector<double> of_work;
  std::vector<double> of_reference;
  const auto timed = [](auto& run, std::vector<double>& times) {
    const double begin = thread_seconds();
    run();
    benchmark::ClobberMemory();
    times.push_back(thread_seconds() - begin);
  };
  for (auto _ : state) {
    timed(work, of_work);
    timed(reference, of_reference);
    state.SetIterationTime(of_work.back());
  }
  const auto median = [](std::vector<double>& times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  };
  return {median(of_work), median(of_reference)};
}

}  // namespace hbench
