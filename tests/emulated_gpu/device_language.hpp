#pragma once

/// CUDA's device language for g++, included before everything else where a .cu file is compiled as C++ for the emulated
/// GPU. Kernels are functions, each thread of a block a fiber, and __CUDA_ARCH__ is defined, so that what runs are the
/// branches for the device. Add what a kernel uses and this lacks, with a line in `mistakes.cu` where it can be
/// misused.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>

#include "tests/emulated_gpu/kernel.hpp"

#define __global__
#define __device__
#define __host__
/// A variable of the worker's thread, which runs one block at a time: so the checker tells it from the program's other
/// variables.
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __CUDACC__ 1
#define __CUDA_ARCH__ 900

#define threadIdx (::hbench::emulated_gpu::thread_index())
#define blockIdx (::hbench::emulated_gpu::block_index())
#define blockDim (::hbench::emulated_gpu::block_size())
#define gridDim (::hbench::emulated_gpu::grid_size())

/// `kernel<<<blocks, threads, 0, stream>>>(arguments...)`.
template <class... Parameters, class... Arguments>
void launch_kernel(void (*kernel)(Parameters...), dim3 blocks, unsigned threads, cudaStream_t stream,
                   const Arguments&... arguments) {
  static_assert((std::is_trivially_copyable_v<std::remove_cv_t<Parameters>> && ...));
  struct Call {
    void (*kernel)(Parameters...);
    std::tuple<std::remove_cv_t<Parameters>...> arguments;
  };
  const Call call{kernel, {arguments...}};
  hbench::emulated_gpu::launch({.kernel = reinterpret_cast<const void*>(kernel),
                                .grid = blocks,
                                .block = threads,
                                .stream = stream,
                                .argument_bytes = sizeof call,
                                .arguments = &call,
                                .body = [](const void* at) {
                                  const Call& mine = *static_cast<const Call*>(at);
                                  std::apply(mine.kernel, mine.arguments);
                                }});
}

/// cuda_runtime.h has it as a template too.
template <class... Parameters>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*kernel)(Parameters...), int threads,
                                                          std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(kernel), threads, shared);
}

inline void __syncthreads(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
  hbench::emulated_gpu::barrier({file, line});
}

inline unsigned __ballot_sync(unsigned mask, int predicate, const char* file = __builtin_FILE(),
                              unsigned line = __builtin_LINE()) {
  using hbench::emulated_gpu::WarpOperation;
  const std::uint64_t vote = predicate != 0 ? 1 : 0;
  return static_cast<unsigned>(
      hbench::emulated_gpu::exchange(WarpOperation::ballot, mask, {.value = vote}, {file, line}));
}

namespace hbench::emulated_gpu {

/// A shuffle of a value of up to 8 bytes.
template <class T>
T shuffled(WarpOperation operation, unsigned mask, T value, int lane, int width, Site site) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  WarpArgument argument{.lane = lane, .width = width};
  std::memcpy(&argument.value, &value, sizeof value);
  const std::uint64_t result = exchange(operation, mask, argument, site);
  std::memcpy(&value, &result, sizeof value);
  return value;
}

}  // namespace hbench::emulated_gpu

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, const char* file = __builtin_FILE(),
              unsigned line = __builtin_LINE()) {
  using hbench::emulated_gpu::WarpOperation;
  return hbench::emulated_gpu::shuffled(WarpOperation::shuffle, mask, value, lane, width, {file, line});
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, const char* file = __builtin_FILE(),
                  unsigned line = __builtin_LINE()) {
  using hbench::emulated_gpu::WarpOperation;
  return hbench::emulated_gpu::shuffled(WarpOperation::shuffle_xor, mask, value, lanes, width, {file, line});
}

/// Not instrumented themselves: their accesses are atomic ones.
__attribute__((no_sanitize("thread"))) inline unsigned atomicAdd(unsigned* at, unsigned value) {
  hbench::emulated_gpu::check_atomic(at, __builtin_return_address(0));
  const unsigned old = *at;
  *at = old + value;
  return old;
}
__attribute__((no_sanitize("thread"))) inline unsigned atomicMax(unsigned* at, unsigned value) {
  hbench::emulated_gpu::check_atomic(at, __builtin_return_address(0));
  const unsigned old = *at;
  *at = old < value ? value : old;
  return old;
}

inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
inline unsigned long min(unsigned long a, unsigned long b) { return b < a ? b : a; }
inline std::uint16_t cvt_rn_f16_f32(float value) { return hbench::emulated_gpu::half_from_float(value); }
inline float cvt_f32_f16(std::uint16_t half) { return hbench::emulated_gpu::float_from_half(half); }
