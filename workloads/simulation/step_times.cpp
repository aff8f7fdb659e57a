#include "workloads/simulation/step_times.hpp"

#include <algorithm>

namespace hbench {

Staleness Staleness::of(const std::map<int, std::int64_t>& counts) {
  double all = 0, sum = 0;
  for (const auto& [number, count] : counts) {
    all += static_cast<double>(count);
    sum += number * static_cast<double>(count);
  }
  Staleness staleness{.mean = sum / all, .p95 = 0, .largest = counts.rbegin()->first};
  double passed = 0;
  for (const auto& [number, count] : counts)
    if ((passed += static_cast<double>(count)) >= 0.95 * all) {
      staleness.p95 = number;
      break;
    }
  return staleness;
}

void add_share(StepTimes& sum, const StepTimes& step, double share) {
  for (Seconds StepTimes::*part : {&StepTimes::step, &StepTimes::compute, &StepTimes::straggler, &StepTimes::slowdown,
                                   &StepTimes::exposed, &StepTimes::update, &StepTimes::communication})
    sum.*part = sum.*part + step.*part * share;
  add(sum.sent, step.sent, share);
  sum.alone = step.alone;
  sum.buckets = std::max(sum.buckets, step.buckets);
}

}  // namespace hbench
