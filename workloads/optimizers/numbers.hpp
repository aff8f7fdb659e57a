#pragma once

/// Arithmetic on as many numbers as a model has parameters, element by element.

#include <span>

#include "collectives/device/device.hpp"

namespace hbench {

/// Parameters, gradients or an optimizer's state, in one or several pieces of some device's memory: one of hbench's
/// (`DeviceNumbers`), or of LibTorch's tensors (`engine/tensor_numbers.hpp`). Operands are of one kind, and cut alike.
class Numbers {
 public:
  virtual ~Numbers() = default;
  virtual void assign(const Numbers& a) = 0;                                        ///< x = a
  virtual void multiply(double factor) = 0;                                         ///< x = factor x
  virtual void add(const Numbers& a, double factor) = 0;                            ///< x = x + factor a
  virtual void add_product(const Numbers& a, const Numbers& b, double factor) = 0;  ///< x = x + factor a b
  /// x = x + factor a / (sqrt(b) / root + epsilon)
  virtual void add_ratio(const Numbers& a, const Numbers& b, double factor, double root, double epsilon) = 0;
};

/// In memory of a device, which outlives them; the memory is somebody else's.
class DeviceNumbers final : public Numbers {
 public:
  explicit DeviceNumbers(std::span<float> values, Device& device = host_device()) : values_(values), device_(device) {}
  void assign(const Numbers& a) override;
  void multiply(double factor) override;
  void add(const Numbers& a, double factor) override;
  void add_product(const Numbers& a, const Numbers& b, double factor) override;
  void add_ratio(const Numbers& a, const Numbers& b, double factor, double root, double epsilon) override;

 private:
  std::span<float> values_;
  Device& device_;
};

}  // namespace hbench
