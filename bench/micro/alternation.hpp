#pragma once

/// Comparing two pieces of work on a machine whose speed changes: they take turns, and medians are compared.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace hbench {

/// Medians of what each of two pieces of work took, in seconds.
struct Alternation {
  double work = 0;
  double reference = 0;
};

/// Runs both in turn, as long as `state` wants; reports the time of `work`.
template <class Work, class Reference>
Alternation alternate(benchmark::State& state, Work work, Reference reference) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> of_work;
  std::vector<double> of_reference;
  const auto timed = [](auto& run, std::vector<double>& times) {
    const auto begin = Clock::now();
    run();
    benchmark::ClobberMemory();
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
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
