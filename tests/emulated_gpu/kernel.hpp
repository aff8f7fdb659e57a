#pragma once

/// Between kernels (`device_language.hpp`) and what executes them (`block.cpp`).

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hbench::emulated_gpu {

/// Where in a kernel threads meet: all of them must be at the same.
struct Site {
  const char* file;
  unsigned line;
};
inline bool is_same(const Site& a, const Site& b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

// The running thread of a kernel asks for these.

uint3 thread_index();
uint3 block_index();
dim3 block_size();
dim3 grid_size();

/// Returns once all threads of the block that have not ended have called it.
void barrier(Site site);

enum class WarpOperation { ballot, shuffle, shuffle_xor };
struct WarpArgument {
  std::uint64_t value = 0;
  int lane = 0;  ///< of a shuffle: the lane to read from, or the mask of the exclusive or
  int width = 32;
};
/// Returns what the lane gets once all lanes of `mask` that have not ended have called it.
std::uint64_t exchange(WarpOperation operation, unsigned mask, const WarpArgument& argument, Site site);

/// Checks an atomic change; blocks and threads have the worker in turn, so that the caller may then just make it.
void check_atomic(const std::uint32_t* at, const void* place);

std::uint16_t half_from_float(float value);  ///< cvt.rn.f16.f32
float float_from_half(std::uint16_t half);   ///< cvt.f32.f16

/// A kernel, by the way it is launched.
struct Launch {
  const void* kernel = nullptr;
  dim3 grid, block;
  cudaStream_t stream = nullptr;
  std::size_t argument_bytes = 0;
  const void* arguments = nullptr;                ///< copied
  void (*body)(const void* arguments) = nullptr;  ///< one thread's, with a copy of its own
};
/// Enqueues it on its stream; what is wrong with it is what cudaGetLastError returns.
void launch(const Launch& launch);

}  // namespace hbench::emulated_gpu
