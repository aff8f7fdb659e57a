#pragma once

/// Launching, and what the lanes of a warp do together. For nvcc, and for the emulated GPU of the tests.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collectives/cuda/launching_device.hpp"
#include "collectives/cuda/walk.cuh"

namespace hbench::cuda {

/// Launches `kernel` on the queue's stream, without dynamic shared memory: every launch is one of these. Compilers
/// other than nvcc have no <<<>>>; for the emulated GPU of the tests, `launch_kernel` is what tests/emulated_gpu has
/// instead. \throws Error (environment) when the kernel cannot be launched.
template <auto kernel, unsigned threads = kThreads, class... Arguments>
void start(const Queue& queue, dim3 blocks, const Arguments&... arguments) {
#ifdef __NVCC__
  kernel<<<blocks, threads, 0, queue.stream>>>(arguments...);
#else
  launch_kernel(kernel, blocks, threads, queue.stream, arguments...);
#endif
  succeed(cudaGetLastError(), "launching a CUDA kernel");
}

/// Blocks of `kernel` for `tiles` of work: as many as run at once, or as there are tiles. `kernel` has kThreads threads
/// to a block and no dynamic shared memory. What one multiprocessor holds was asked once; GPUs of a host are alike, and
/// where they are not, the grid is merely less fitting.
template <auto kernel>
unsigned blocks_for(const Queue& queue, std::size_t tiles) {
  static const int resident = [] {
    int blocks = 0;
    succeed(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kThreads, 0), "preparing a CUDA kernel");
    return std::max(blocks, 1);
  }();
  const auto most = static_cast<std::size_t>(resident) * static_cast<std::size_t>(queue.multiprocessors);
  return static_cast<unsigned>(std::min(tiles, most));
}

template <class Work>
__global__ void __launch_bounds__(kThreads) run_work(const Work work, const Extent extent) {
  walk(work, extent, {blockIdx.x, gridDim.x, threadIdx.x});
}

/// One for each tile, handed out as others end: blocks that each walk over a fixed share leave multiprocessors idle
/// behind the last of them (on an H200, with 16 tiles for a block, 5 to 9 % of the bandwidth: bench/gpu).
inline unsigned blocks_of(const Extent& extent, std::size_t group) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  return static_cast<unsigned>(std::min(tiles_of(extent, group), kMost));
}

template <class Work>
void launch(const Queue& queue, const Work& work, const Extent& extent) {
  if (extent.elements == 0) return;
  start<run_work<Work>>(queue, blocks_of(extent, Work::kGroup), work, extent);
}

/// For the functions `with_...` of work items.
inline auto launching(const Queue& queue) {
  return [&queue](const auto& work, const Extent& extent) { launch(queue, work, extent); };
}

constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = 0xffff'ffff;

__device__ inline std::uint32_t largest_of_warp(std::uint32_t value) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2)
    value = max(value, __shfl_xor_sync(kAllLanes, value, distance));
  return value;
}

}  // namespace hbench::cuda
