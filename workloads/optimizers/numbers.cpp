#include "workloads/optimizers/numbers.hpp"

#include "collectives/arithmetic/arithmetic.hpp"

namespace hbench {
namespace {

using Kind = NumbersChange::Kind;

const DeviceNumbers& of_device(const Numbers& numbers) { return static_cast<const DeviceNumbers&>(numbers); }

}  // namespace

void DeviceNumbers::assign(const Numbers& a) {
  device_.copy(std::as_bytes(of_device(a).values_), std::as_writable_bytes(values_));
}

void DeviceNumbers::multiply(double factor) {
  device_.change({.kind = Kind::multiply, .factor = static_cast<float>(factor)}, values_);
}

void DeviceNumbers::add(const Numbers& a, double factor) {
  device_.change({.kind = Kind::add, .factor = static_cast<float>(factor), .a = of_device(a).values_}, values_);
}

void DeviceNumbers::add_product(const Numbers& a, const Numbers& b, double factor) {
  device_.change({.kind = Kind::add_product,
                  .factor = static_cast<float>(factor),
                  .a = of_device(a).values_,
                  .b = of_device(b).values_},
                 values_);
}

void DeviceNumbers::add_ratio(const Numbers& a, const Numbers& b, double factor, double root, double epsilon) {
  device_.change({.kind = Kind::add_ratio,
                  .factor = static_cast<float>(factor),
                  .a = of_device(a).values_,
                  .b = of_device(b).values_,
                  .root = static_cast<float>(root),
                  .epsilon = static_cast<float>(epsilon)},
                 values_);
}

}  // namespace hbench
