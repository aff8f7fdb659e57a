// Compiled on x86-64 only.

#include <cstddef>
#include <cstdint>

#include "collectives/arithmetic/kernels.hpp"

#pragma GCC target("avx2")
#define HBENCH_KERNELS kAvx2
#define HBENCH_INSTRUCTIONS "avx2"
#define HBENCH_SUPPORTED __builtin_cpu_supports("avx2") != 0
#include "collectives/arithmetic/kernels.inc"
