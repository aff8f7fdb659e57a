#include "analysis/prediction/emulated_memory.hpp"

#include <fmt/format.h>

#include "collectives/base/units_text.hpp"

namespace hbench {

namespace {

/// Models in the memory of a rank: gradients, what buckets are packed and received in, parameters, deltas, and the
/// means that lie aside with what others send for them.
double models_of(const StepPlan& plan) {
  return 1.6 + (carries_parameters(plan) ? 1 : 0) + (deltas_lie_apart(plan) ? 1 : 0) +
         (takes_means_with_some(plan) ? 3 : 0);
}

}  // namespace

std::string refuse_emulated_memory(int ranks, const StepTimeline& timeline, const StepPlan& plan,
                                   std::int64_t available) {
  constexpr double kProcess = 60e6;  // the libraries
  const double gradients = static_cast<double>(timeline.all_elements()) * sizeof(float);
  const double needed = ranks * (models_of(plan) * gradients + kProcess);
  if (needed <= static_cast<double>(available)) return {};
  return fmt::format("{} ranks with gradients of {} take {} of memory, and {} are available", ranks,
                     format(Bytes(gradients)), format(Bytes(needed)), format(Bytes(static_cast<double>(available))));
}

}  // namespace hbench
