#pragma once

/// Where a model can be trained, and in which precision.

#include "workloads/precision.hpp"

namespace hbench {

/// \throws Error: environment where no model can be trained on a GPU, usage for a precision that only GPUs have.
void require_place(bool on_gpu, Precision precision);

}  // namespace hbench
