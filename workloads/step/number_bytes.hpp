#pragma once

/// How many bytes the numbers of a training have: what travels, and what a GPU keeps.

#include "workloads/presets/preset.hpp"
#include "workloads/step/precision.hpp"

namespace hbench {

struct NumberBytes {
  double activation = 4;
  double weight = 4;
  double gradient = 4;  ///< also on its way to other ranks, where no compressor codes it
  double master = 0;    ///< of the float32 copy of a weight in 16 bits that the optimizer keeps
  double state = 4;     ///< of each other number of the optimizer
  bool copies = false;  ///< autocast keeps weights in 16 bits beside those in float32

  bool half_gradients() const { return gradient == 2; }
  /// Of a parameter that is gathered for a pass, in the type in which that computes.
  double gathered() const { return copies ? 2 : weight; }
};

/// Of training in this precision by a framework (null: none is named). 16 bits are autocast's, which leaves weights and
/// gradients in float32, unless the framework says otherwise (`Preset::half`) or nothing is float32 (bf16-true).
NumberBytes number_bytes(Precision precision, const Preset* preset);

}  // namespace hbench
