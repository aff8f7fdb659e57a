#include "analysis/choose/failures.hpp"

#include <algorithm>
#include <cmath>

namespace hbench {

double best_interval(const Interruptions& by) {
  if (by.interval > 0) return by.interval;
  // Most of the time counts where e^(x + c) (1 - x) is 1, which falls with x: x is the interval and c the checkpoint,
  // both in mean times between failures.
  const double checkpoint = by.checkpoint * by.failures;
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double x = (low + high) / 2;
    (std::exp(x + checkpoint) * (1 - x) > 1 ? low : high) = x;
  }
  return high / by.failures;
}

double training_share(const Interruptions& by, double interval) {
  constexpr double kHardlyAny = 1e-6;
  const double in_failures = interval * by.failures;
  const double taken = std::exp(by.restart * by.failures) * std::expm1(in_failures + by.checkpoint * by.failures);
  return std::max(kHardlyAny, in_failures / taken / (1 + by.evictions * (by.restart + by.checkpoint)));
}

Pace pace_of(const Interruptions& by) {
  const double interval = best_interval(by);
  const auto share_with = [&](double times) {
    Interruptions others = by;
    others.failures *= times;
    others.evictions *= times;
    return training_share(others, interval);
  };
  return {by, interval, {share_with(by.factor), share_with(1), share_with(1 / by.factor)}};
}

}  // namespace hbench
