#include "analysis/prediction/emulated_memory.hpp"

#include <fmt/format.h>

#include "collectives/base/units_text.hpp"

namespace hbench {

std::string refuse_emulated_memory(int ranks, const StepTimeline& timeline, std::int64_t available) {
  // The gradients, what buckets are packed and received in, and the libraries of a process.
  constexpr double kBuffers = 1.6, kProcess = 60e6;
  double gradients = 0;
  for (const GradientEvent& gradient : timeline.gradients)
    gradients += static_cast<double>(gradient.elements) * sizeof(float);
  const double needed = ranks * (kBuffers * gradients + kProcess);
  if (needed <= static_cast<double>(available)) return {};
  return fmt::format("{} ranks with gradients of {} take {} of memory, and {} are available", ranks,
                     format(Bytes(gradients)), format(Bytes(needed)), format(Bytes(static_cast<double>(available))));
}

}  // namespace hbench
