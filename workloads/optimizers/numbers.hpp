#pragma once

/// Arithmetic on as many numbers as a model has parameters, element by element.

#include <span>

namespace hbench {

/// Parameters, gradients or an optimizer's state, in one or several pieces of some device's memory: on the host
/// (`HostNumbers`), or LibTorch's tensors (`engine/tensor_numbers.hpp`). Operands are of one kind, and cut alike.
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

/// On the host, in memory of somebody else's.
class HostNumbers final : public Numbers {
 public:
  explicit HostNumbers(std::span<float> values) : values_(values) {}
  void assign(const Numbers& a) override;
  void multiply(double factor) override;
  void add(const Numbers& a, double factor) override;
  void add_product(const Numbers& a, const Numbers& b, double factor) override;
  void add_ratio(const Numbers& a, const Numbers& b, double factor, double root, double epsilon) override;

 private:
  std::span<float> values_;
};

}  // namespace hbench
