#pragma once

/// The loops of `combine`, vectorised and chosen at run time for the processor. Internal to the arithmetic.

#include <array>
#include <cstddef>

namespace hbench::arithmetic {

/// As hbench::combine, on elements that are combined as they are stored; at least one source, any alignment.
using Combine = void (*)(const std::byte* const* sources, std::size_t source_count, std::byte* const* targets,
                         std::size_t target_count, std::size_t bytes, int divisor);

/// By data type and operation: halves are combined as float32, and `average` is a sum that is divided.
using Kernels = std::array<std::array<Combine, 5>, 7>;

const Kernels& kernels();

}  // namespace hbench::arithmetic
