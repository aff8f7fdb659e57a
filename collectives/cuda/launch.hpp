#pragma once

/// Where a kernel is launched, and the kernels of `Device`.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "collectives/arithmetic/arithmetic.hpp"

namespace hbench::cuda {

/// On the current device.
struct Queue {
  cudaStream_t stream = nullptr;
  int multiprocessors = 0;
};

/// As those of `arithmetic.hpp`. \throws Error (environment) when the kernel cannot be launched.
void accumulate(const Queue& queue, DataType type, ReduceOp op, std::span<const std::byte> in,
                std::span<std::byte> inout);
void fill_neutral(const Queue& queue, DataType type, ReduceOp op, std::span<std::byte> buffer);
void finish(const Queue& queue, DataType type, ReduceOp op, int workers, std::span<std::byte> buffer);
void keep_rest(const Queue& queue, std::span<const float> whole, std::span<float> part);
void change(const Queue& queue, const NumbersChange& by, std::span<float> numbers);

}  // namespace hbench::cuda
