#pragma once

/// Numbers in tensors of LibTorch's, on any device it has. Included by files that include LibTorch alone.
///
/// What a replica keeps for outer updates (`OuterStep`) of its parameters. Included by files that include LibTorch
/// alone.

#include <ATen/core/Tensor.h>

#include <memory>
#include <string_view>
#include <vector>

#include "workloads/optimizers/optimizer.hpp"

namespace hbench {

/// One operation on a GPU is a few kernels for all tensors, as in PyTorch's optimizers with `foreach`.
class TensorNumbers final : public Numbers {
 public:
  explicit TensorNumbers(std::vector<at::Tensor> tensors) : tensors_(std::move(tensors)) {}
  /// As many of the same shapes, in memory of their own.
  TensorNumbers zeros() const;
  /// One of its tensors, in the same memory.
  TensorNumbers of(std::size_t tensor) const { return TensorNumbers({tensors_[tensor]}); }
  const at::Tensor& tensor(std::size_t number) const { return tensors_[number]; }
  void walk(StateWalk& state, std::string_view name);

  void assign(const Numbers& a) override;
  void multiply(double factor) override;
  void add(const Numbers& a, double factor) override;
  void add_product(const Numbers& a, const Numbers& b, double factor) override;
  void add_ratio(const Numbers& a, const Numbers& b, double factor, double root, double epsilon) override;

 private:
  std::vector<at::Tensor> tensors_;
};

/// Several times as many zeros, as an optimizer's state begins.
std::vector<TensorNumbers> zeros_like(const TensorNumbers& numbers, int times);
/// As `Optimizer::apply` has them.
std::vector<Numbers*> pointers_to(std::vector<TensorNumbers>& numbers);

/// One replica's: its fragments are updated each for itself. Tensors are shared with the replica; gradients are not
/// recorded while it is called.
class OuterUpdates {
 public:
  /// \param deltas where those of each parameter lie \param fragments the parameters of each, by their places
  OuterUpdates(const OuterUpdate& update, const std::vector<at::Tensor>& parameters,
               const std::vector<at::Tensor>& deltas, const std::vector<std::vector<int>>& fragments);
  ~OuterUpdates();

  void take_deltas(int fragment);
  void apply(int fragment, int ranks);
  void walk(StateWalk& state);
  /// What the next updates start from, by parameter.
  const std::vector<at::Tensor>& originals() const { return originals_; }

 private:
  struct Fragment;
  std::vector<at::Tensor> originals_;
  std::vector<std::unique_ptr<Fragment>> fragments_;
};

}  // namespace hbench
