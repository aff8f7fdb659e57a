#pragma once

/// A training step as the network sees it: plain data, recorded or computed, no model code.

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/base/units.hpp"

namespace hbench {

/// One gradient, in backward order.
struct GradientEvent {
  std::string tensor;
  std::int64_t elements = 0;
  /// Since the backward pass began, undisturbed by communication.
  Seconds ready;
};

/// One undisturbed step on one GPU, without communication.
struct StepTimeline {
  int batch = 1;                         ///< samples per step
  Seconds forward;                       ///< until the backward pass begins
  Seconds backward;                      ///< from there to the end of the step, optimiser included
  std::vector<GradientEvent> gradients;  ///< ready times ascending, at most `backward`

  /// The size of each gradient.
  std::vector<std::int64_t> elements() const;
  Seconds step() const { return forward + backward; }
  double samples_per_second() const { return batch / step().value; }
  /// The same step at another speed and batch: every time scaled so that `samples_per_second() == rate`.
  StepTimeline rescaled(double rate, int new_batch) const;
};

}  // namespace hbench
