#include "workloads/step/timeline.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace hbench {
namespace {

constexpr double kSmall = 0.1;  ///< of the middle unit

/// `h11` of `h11.mlp.fc.weight`; empty without a number.
std::string_view block_of(std::string_view tensor) {
  const auto is_digit = [](unsigned char each) { return std::isdigit(each) != 0; };
  const auto first = std::ranges::find_if(tensor, is_digit);
  if (first == tensor.end()) return {};
  return {tensor.begin(), std::find_if_not(first, tensor.end(), is_digit)};
}

using Units = std::vector<std::vector<int>>;

std::int64_t middle_size(const Units& units, const StepTimeline& timeline) {
  std::vector<std::int64_t> sizes;
  for (const auto& unit : units) sizes.push_back(elements_of(unit, timeline));
  const auto middle = sizes.begin() + std::ssize(sizes) / 2;
  std::ranges::nth_element(sizes, middle);
  return *middle;
}

/// Joins each small unit with the one before it; the first with the one after it.
Units joined(const Units& units, const StepTimeline& timeline) {
  const double small = kSmall * static_cast<double>(middle_size(units, timeline));
  Units all;
  bool all_small = true;  // so far
  for (const auto& unit : units) {
    const bool is_small = static_cast<double>(elements_of(unit, timeline)) < small;
    if (all.empty() || !(is_small || all_small))
      all.push_back(unit);
    else
      all.back().insert(all.back().end(), unit.begin(), unit.end());
    all_small = all_small && is_small;
  }
  return all;
}

}  // namespace

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

std::int64_t elements_of(const std::vector<int>& unit, const StepTimeline& timeline) {
  std::int64_t elements = 0;
  for (const int tensor : unit) elements += timeline.gradients[static_cast<std::size_t>(tensor)].elements;
  return elements;
}

std::vector<std::vector<int>> model_units(const StepTimeline& timeline) {
  Units units;
  std::string_view block;
  for (int tensor = static_cast<int>(timeline.gradients.size()) - 1; tensor >= 0; --tensor) {
    const std::string_view own = block_of(timeline.gradients[static_cast<std::size_t>(tensor)].tensor);
    if (units.empty() || own != block) units.emplace_back();
    units.back().push_back(tensor);
    block = own;
  }
  if (units.empty()) return units;
  units = joined(units, timeline);
  for (auto& unit : units) std::ranges::sort(unit);
  return units;
}

Seconds backward_of(const Units& units, std::size_t unit, const StepTimeline& timeline) {
  const auto last_of = [&](std::size_t index) {
    Seconds last;
    for (const int tensor : units[index])
      last = std::max(last, timeline.gradients[static_cast<std::size_t>(tensor)].ready);
    return last;
  };
  const Seconds end = unit == 0 ? timeline.backward : last_of(unit);
  return unit + 1 == units.size() ? end : std::max(Seconds(0), end - last_of(unit + 1));
}

}  // namespace hbench
