#pragma once

/// CUDA's error codes as errors of ours.

#include <cuda_runtime_api.h>

#include <string_view>

namespace hbench::cuda {

/// \throws Error (environment) `<what>: <CUDA's words>` with a hint, unless `code` is success.
void succeed(cudaError_t code, std::string_view what);

}  // namespace hbench::cuda
