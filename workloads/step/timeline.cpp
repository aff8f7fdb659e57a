#include "workloads/step/timeline.hpp"

namespace hbench {

std::vector<std::int64_t> StepTimeline::elements() const {
  std::vector<std::int64_t> elements;
  for (const GradientEvent& gradient : gradients) elements.push_back(gradient.elements);
  return elements;
}

StepTimeline StepTimeline::rescaled(double rate, int new_batch) const {
  StepTimeline scaled = *this;
  scaled.batch = new_batch;
  const double factor = new_batch / rate / step().value;
  scaled.forward = forward * factor;
  scaled.backward = backward * factor;
  for (GradientEvent& gradient : scaled.gradients) gradient.ready = gradient.ready * factor;
  return scaled;
}

}  // namespace hbench
