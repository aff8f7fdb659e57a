#include "workloads/optimizers/numbers.hpp"

#include <cmath>

namespace hbench {
namespace {

/// Calls `use(value, operand...)` for each element.
template <class Use, class... Operands>
void for_each(std::span<float> values, Use use, const Operands*... operands) {
  for (std::size_t i = 0; i < values.size(); ++i) use(values[i], operands[i]...);
}

}  // namespace

void HostNumbers::assign(const Numbers& a) {
  for_each(
      values_, [](float& x, float each) { x = each; }, static_cast<const HostNumbers&>(a).values_.data());
}

void HostNumbers::multiply(double factor) {
  for_each(values_, [by = static_cast<float>(factor)](float& x) { x *= by; });
}

void HostNumbers::add(const Numbers& a, double factor) {
  const auto by = static_cast<float>(factor);
  for_each(
      values_, [by](float& x, float each) { x += by * each; }, static_cast<const HostNumbers&>(a).values_.data());
}

void HostNumbers::add_product(const Numbers& a, const Numbers& b, double factor) {
  const auto by = static_cast<float>(factor);
  for_each(
      values_, [by](float& x, float first, float second) { x += by * first * second; },
      static_cast<const HostNumbers&>(a).values_.data(), static_cast<const HostNumbers&>(b).values_.data());
}

void HostNumbers::add_ratio(const Numbers& a, const Numbers& b, double factor, double root, double epsilon) {
  const auto by = static_cast<float>(factor), divisor = static_cast<float>(root), least = static_cast<float>(epsilon);
  for_each(
      values_, [=](float& x, float top, float square) { x += by * top / (std::sqrt(square) / divisor + least); },
      static_cast<const HostNumbers&>(a).values_.data(), static_cast<const HostNumbers&>(b).values_.data());
}

}  // namespace hbench
