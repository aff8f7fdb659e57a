#pragma once

/// The outer half of a training whose ranks step alone and then agree (DiLoCo: Douillard et al., arXiv:2311.08105,
/// 2023): what the parameters have changed by is a gradient to another optimizer.

#include <vector>

#include "workloads/optimizers/optimizer.hpp"

namespace hbench {

struct OuterUpdate {
  OptimizerChoice optimizer;
  double rate = 1;
  /// The share of a rank's own parameters in those that it goes on with, of 1 (torchft: fragment_update_alpha).
  double own_share = 0;
};

/// One rank's, of all its parameters or of some. On each rank, after some steps: `take_deltas`, the sum of those over
/// all ranks, `apply`.
class OuterStep {
 public:
  /// \param original a copy of the parameters, in which all ranks agree; \param state as `Optimizer::apply` has it.
  /// Both outlive this, which changes them.
  OuterStep(OuterUpdate update, Numbers& original, std::vector<Numbers*> state);

  /// deltas = original - parameters
  void take_deltas(const Numbers& parameters, Numbers& deltas) const;
  /// The optimizer steps from the original by the mean of the deltas of `ranks`, and `parameters` become what it comes
  /// to.
  void apply(const Numbers& sum_of_deltas, int ranks, Numbers& parameters);

 private:
  OuterUpdate update_;
  Numbers& original_;
  std::vector<Numbers*> state_;
  std::int64_t steps_ = 0;
};

}  // namespace hbench
