#include <cstddef>
#include <cstdint>

#include "collectives/arithmetic/kernels.hpp"

#define HBENCH_KERNELS kBaseline
#define HBENCH_INSTRUCTIONS "baseline"
#define HBENCH_SUPPORTED true
#include "collectives/arithmetic/kernels.inc"
