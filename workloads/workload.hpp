#pragma once

/// What a training step asks for: the tensors of a model and when their gradients become ready.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "collectives/network/step.hpp"

namespace hbench {

/// Where a trace comes from and what it needs to be read in public.
struct Trace {
  std::string name;       ///< `resnet50`
  std::string title;      ///< `ResNet-50`
  std::string source;     ///< how its times are known: recorded where, or which rule
  StepTimeline timeline;  ///< in backward order
};

}  // namespace hbench
