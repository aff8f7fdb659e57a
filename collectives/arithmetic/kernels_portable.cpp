// Compiled where there is no kernels_x86.cpp.

#include "collectives/arithmetic/kernels.hpp"

namespace hbench::arithmetic {

KernelList supported_kernels() { return {{&kBaseline}, 1}; }

}  // namespace hbench::arithmetic
