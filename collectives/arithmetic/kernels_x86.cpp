#include "collectives/arithmetic/kernels.hpp"

namespace hbench::arithmetic {

KernelList supported_kernels() {
  KernelList list{};
  for (const Kernels* kernels : {&kAvx512, &kAvx2, &kBaseline})
    if (kernels->supported()) list.at[list.count++] = kernels;
  return list;
}

}  // namespace hbench::arithmetic
