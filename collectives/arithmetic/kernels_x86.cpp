#include "collectives/arithmetic/kernels.hpp"

namespace hbench::arithmetic {

KernelList supported_kernels() {
  KernelList list{};
  const Kernels* const all[] = {&kAvx512, &kAvx2, &kBaseline};
  for (const Kernels* kernels : all)
    if (kernels->supported()) list.at[list.count++] = kernels;
  return list;
}

}  // namespace hbench::arithmetic
