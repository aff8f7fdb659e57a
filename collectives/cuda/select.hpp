#pragma once

#include <span>

#include "collectives/cuda/launch.hpp"
#include "collectives/cuda/sparse.cuh"
#include "collectives/cuda/workspace.hpp"

namespace hbench::cuda {

/// Encodes the `out.count` elements of the largest magnitude, as `select.cuh` says.
/// \pre 0 < out.count <= in.size() < 2^32 - 1. \throws Error (environment)
void select_largest(const Queue& queue, Workspace& workspace, std::span<const float> in, const SparseWire& out);

}  // namespace hbench::cuda
