#pragma once

/// What this program's LibTorch is, and where it can train a model. No LibTorch type appears here.

#include <map>
#include <string>

#include "collectives/base/library.hpp"
#include "workloads/step/precision.hpp"

namespace hbench {

Availability torch_availability();
/// Whether models can be trained here. Unlike `torch_availability` this loads the libraries to know: half a second
/// where they are another program's.
Availability training_availability();
/// Whether models can be trained on a GPU here.
Availability gpu_training_availability();
/// What LibTorch is made of: `version`, and where it has them `cuda`, `cudnn`.
std::map<std::string, std::string> torch_facts();

/// \throws Error: environment where no model can be trained on a GPU, usage for a precision that only GPUs have.
void require_place(bool on_gpu, Precision precision);

}  // namespace hbench
