#pragma once

/// What a replica keeps for outer updates (`OuterStep`) of its parameters. Included by files that include LibTorch
/// alone.

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "workloads/engine/tensor_numbers.hpp"
#include "workloads/optimizers/outer_step.hpp"

namespace hbench {

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
  /// What the next updates start from, by parameter.
  const std::vector<at::Tensor>& originals() const { return originals_; }

 private:
  struct Fragment;
  std::vector<at::Tensor> originals_;
  std::vector<std::unique_ptr<Fragment>> fragments_;
};

}  // namespace hbench
