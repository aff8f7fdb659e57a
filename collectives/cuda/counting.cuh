#pragma once

/// How the blocks of `select.cu` count. On the device only; all threads of a block call these together.

#include <cstdint>

#include "collectives/cuda/select.cuh"

namespace hbench::cuda {

/// Counts of a block, in shared memory; later added to those of all.
struct BlockCounts {
  std::uint32_t at[kMostBins];

  __device__ void clear() {
    for (unsigned i = threadIdx.x; i < kMostBins; i += kThreads) at[i] = 0;
    __syncthreads();
  }
  __device__ void add_to(std::uint32_t* counts) {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < kMostBins; i += kThreads)
      if (at[i] != 0) atomicAdd(counts + i, at[i]);
  }
};

/// What the threads before this one have. One block; `shared` has kThreads numbers.
__device__ inline std::uint32_t sum_before(std::uint32_t mine, std::uint32_t* shared) {
  shared[threadIdx.x] = mine;
  for (unsigned distance = 1; distance < kThreads; distance *= 2) {
    __syncthreads();
    const std::uint32_t other = threadIdx.x >= distance ? shared[threadIdx.x - distance] : 0;
    __syncthreads();
    shared[threadIdx.x] += other;
  }
  const std::uint32_t before = shared[threadIdx.x] - mine;
  __syncthreads();
  return before;
}

/// One block. Finds the bin of `rank`, and leaves the counts cleared. False in all threads but one.
__device__ inline bool find_bin(std::uint32_t* counts, std::uint32_t bins, std::uint32_t rank, std::uint32_t& bin,
                                std::uint32_t& above) {
  __shared__ std::uint32_t sums[kThreads];
  const BinSearch search{counts, bins, kThreads};
  above = sum_before(search.sum(threadIdx.x), sums);
  const bool found = search.find(threadIdx.x, rank, above, bin);
  for (std::uint32_t i = 0; i < search.each(); ++i) counts[search.bin(threadIdx.x, i)] = 0;
  return found;
}

}  // namespace hbench::cuda
