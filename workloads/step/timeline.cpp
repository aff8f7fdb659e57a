#include "workloads/step/timeline.hpp"

namespace hbench {

std::vector<std::int64_t> StepTimeline::elements() const {
  std::vector<std::int64_t> elements;
  for (const GradientEvent& gradient : gradients) elements.push_back(gradient.elements);
  return elements;
}

std::int64_t StepTimeline::all_elements() const {
  std::int64_t sum = 0;
  for (const GradientEvent& gradient : gradients) sum += gradient.elements;
  return sum;
}

StepTimeline StepTimeline::rescaled(double rate, int new_batch) const {
  StepTimeline scaled = *this;
  scaled.batch = new_batch;
  // Of one batch more than the recorded one the passes take as much longer. Without an update nothing is rounded anew.
  const double larger = update.value > 0 ? new_batch / static_cast<double>(batch) : 1;
  const double speed = new_batch / rate / (passes().value * larger + update.value), factor = larger * speed;
  scaled.forward = forward * factor;
  scaled.backward = backward * factor;
  scaled.update = update * speed;
  for (GradientEvent& gradient : scaled.gradients) gradient.ready = gradient.ready * factor;
  return scaled;
}

StepTimeline StepTimeline::accumulated(int count) const {
  StepTimeline all = *this;
  all.batch = batch * count;
  all.forward = forward + passes() * (count - 1);
  return all;
}

StepTimeline StepTimeline::repeated(int count) const {
  StepTimeline all = *this;
  all.micro_batches = count;
  return all;
}

StepTimeline StepTimeline::recomputed(double share_of_forward) const {
  StepTimeline again = *this;
  if (share_of_forward == 0) return again;
  again.backward = backward + forward * share_of_forward;
  for (GradientEvent& gradient : again.gradients) gradient.ready = gradient.ready * (again.backward / backward);
  return again;
}

StepTimeline StepTimeline::with_half_gradients() const {
  StepTimeline half = *this;
  for (GradientEvent& gradient : half.gradients) gradient.elements = (gradient.elements + 1) / 2;
  if (half.blocks)
    for (double EqualBlocks::*elements : {&EqualBlocks::elements, &EqualBlocks::before, &EqualBlocks::after})
      (*half.blocks).*elements /= 2;
  return half;
}

StepTimeline StepTimeline::merged() const {
  StepTimeline one = *this;
  one.backward = backward + update;
  one.update = Seconds(0);
  return one;
}

}  // namespace hbench
