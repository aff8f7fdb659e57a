// Compiled on x86-64 only.

#include <cstddef>
#include <cstdint>

#include "collectives/arithmetic/kernels.hpp"

#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#define HBENCH_KERNELS kAvx512
#define HBENCH_INSTRUCTIONS "avx512"
#define HBENCH_SUPPORTED                                                               \
  __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 && \
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0
#include "collectives/arithmetic/kernels.inc"
