#pragma once

/// Looks at each access to memory that a kernel or a copy makes, before it is made.

#include <cstddef>
#include <cstdint>

#include "tests/emulated_gpu/shadow.hpp"

namespace hbench::emulated_gpu {

/// An access of the thread of a kernel that runs now; of other code, nothing is looked at. `aligned`: it must begin at
/// a multiple of its size.
void check_kernel_access(const Access& access, bool aligned);

/// A copy's access of device memory. False where it must not be made.
bool check_copy(const Access& access);

/// \pre another block of a kernel begins
void forget_shared_memory();

}  // namespace hbench::emulated_gpu
