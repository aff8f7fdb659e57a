#pragma once

/// Comparing two pieces of work on a machine whose speed changes: they take turns, and medians are compared. Time of
/// one thread is its own (CPU time): while others have the core, no clock runs. Time of a device is that until it is
/// done.

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "collectives/device/device.hpp"

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

/// Seconds from a device without work to the end of `work` done `times` over, for one of them.
template <class Work>
double timed(Device& device, int times, Work work) {
  synchronize(device);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) work();
  // Not `drain`: a yield is long beside a short kernel.
  const Event end = device.record_event();
  while (!device.query(end)) {
  }
  return seconds_since(begin) / times;
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace hbench
