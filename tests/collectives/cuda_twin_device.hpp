#pragma once

/// A device whose kernels are grids of threads, one after the other on the host: what kernels do to memory, without a
/// GPU.

#include <cstddef>
#include <memory>

#include "collectives/cuda/walk.cuh"
#include "collectives/device/device.hpp"

namespace hbench::support {

/// As `cuda::launch`, with a grid of `blocks`.
template <class Work>
void run_on_host(const Work& work, const cuda::Extent& extent, std::size_t blocks) {
  for (std::size_t block = 0; block < blocks; ++block)
    for (unsigned thread = 0; thread < cuda::kThreads; ++thread) cuda::walk(work, extent, {block, blocks, thread});
}

/// Its memory begins where a GPU's would. Its work is done at once.
std::unique_ptr<Device> make_twin_device();

}  // namespace hbench::support
