#pragma once

/// The loops of `combine`, vectorised and chosen at run time for the processor. Internal to the arithmetic.

#include <cstddef>

namespace hbench::arithmetic {

/// As hbench::combine, on elements that are combined as they are stored; at least one source, any alignment.
using Combine = void (*)(const std::byte* const* sources, std::size_t source_count, std::byte* const* targets,
                         std::size_t target_count, std::size_t bytes, int divisor);

/// Types in which numbers are combined.
enum Value { kFloat, kDouble, kInt32, kInt64, kUint8, kValues };
/// `average` is a sum that is divided.
enum Operation { kSum, kMin, kMax, kProduct, kOperations };

struct Kernels {
  Combine combine[kValues][kOperations];
};

const Kernels& kernels();

}  // namespace hbench::arithmetic
