#pragma once

/// A grid of threads, one after the other on the host: what kernels do to memory, without a GPU.

#include <cstdlib>
#include <memory>

#include "collectives/cuda/walk.cuh"
#include "tests/collectives/cuda_data.hpp"

namespace hbench::support {

/// As `cuda::launch`, with a grid of `blocks`.
template <class Work>
void run_on_host(const Work& work, const cuda::Extent& extent, std::size_t blocks) {
  for (std::size_t block = 0; block < blocks; ++block)
    for (unsigned thread = 0; thread < cuda::kThreads; ++thread) cuda::walk(work, extent, {block, blocks, thread});
}

/// Poisoned memory for a `Placed` that begins where the GPU's would.
class HostMemory {
 public:
  explicit HostMemory(const Placed& placed)
      : bytes_(placed.all()),
        memory_(static_cast<std::byte*>(std::aligned_alloc(256, (bytes_ + 255) / 256 * 256)), std::free) {
    std::memset(memory_.get(), static_cast<int>(kPoison), bytes_);
  }
  std::span<std::byte> all() { return {memory_.get(), bytes_}; }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte, void (*)(void*)> memory_;
};

}  // namespace hbench::support
