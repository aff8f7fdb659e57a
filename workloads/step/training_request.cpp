#include "workloads/step/training_request.hpp"

#include <algorithm>
#include <cmath>

namespace hbench {

double TrainingRequest::rate_at(std::int64_t step, int batches) const {
  if (data.empty()) return rate();
  constexpr double kWarmUp = 0.1;
  const bool adam = strategy.trained_with().optimizer->name.starts_with("adam");
  const double times = std::pow(batches, adam ? 0.5 : 1);
  const double share = static_cast<double>(step + 1) / (kWarmUp * (warmup_steps + steps));
  return rate() * (1 + (times - 1) * std::min(share, 1.0));
}

}  // namespace hbench
