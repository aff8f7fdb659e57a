#pragma once

/// Shared by the sources of the emulated runtime.

#include <cuda_runtime_api.h>

#include "tests/emulated_gpu/machine.hpp"

namespace hbench::emulated_gpu {

/// Keeps an error for cudaGetLastError of this thread, and returns it.
cudaError_t keep(cudaError_t code);
/// An event's handle.
struct EventState {
  int device = 0;
  bool is_timed = false;
  std::shared_ptr<Recorded> recorded;  ///< null until it is recorded
};

/// Calls `body`, one function of the runtime, unless the process was forked from one that used it.
template <class Body>
cudaError_t call(Body body) {
  return keep(was_forked() ? cudaErrorInitializationError : body());
}

int current_device();
bool is_device(int device);
/// The default stream of the current device where the handle is null.
Stream& stream_of(cudaStream_t handle);

}  // namespace hbench::emulated_gpu
