#pragma once

/// A `Device` on which kernels are launched: what codecs, packing and products need to know of a GPU;
/// and CUDA's error codes as errors of ours.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/device/device.hpp"

namespace hbench::cuda {

/// \throws Error (environment) `<what>: <CUDA's words>` with a hint, unless `code` is success.
void succeed(cudaError_t code, std::string_view what);

/// Where a kernel is launched: on the current device.
struct Queue {
  cudaStream_t stream = nullptr;
  int multiprocessors = 0;
};

/// The kernels of `Device`. As those of `arithmetic.hpp`. \throws Error (environment) when the kernel cannot be
/// launched.
void accumulate(const Queue& queue, DataType type, ReduceOp op, std::span<const std::byte> in,
                std::span<std::byte> inout);
void fill_neutral(const Queue& queue, DataType type, ReduceOp op, std::span<std::byte> buffer);
void finish(const Queue& queue, DataType type, ReduceOp op, int workers, std::span<std::byte> buffer);
void keep_rest(const Queue& queue, std::span<const float> whole, std::span<float> part);
void change(const Queue& queue, const NumbersChange& by, std::span<float> numbers);

class LaunchingDevice : public Device {
 public:
  /// Where kernels are launched; makes the GPU current.
  virtual const Queue& queue() = 0;
};

/// The LaunchingDevice that `device` is. \throws Error (internal) when it is none.
LaunchingDevice& launching_device(Device& device);

/// Many tensors of a GPU as one buffer, and back, each in one launch. Tensors in the order in which they lie in a
/// buffer, without gaps. Made once, used in every step; the table of their pieces lies on the GPU, and is there on
/// return. \pre the tensors are memory of `device`, which outlives the packing, and keep their addresses; buffers do
/// not overlap them. \throws Error (environment), as do its members
std::unique_ptr<Packing> make_packing(LaunchingDevice& device, std::span<const std::span<std::byte>> tensors);

/// Device memory in which one kernel leaves intermediate results for the next; grows on demand and is kept from call to
/// call. Calls on one device may share it, because their kernels run in order and each call writes what it reads.
class Workspace {
 public:
  explicit Workspace(Device& device) : device_(device) {}

  /// At least `bytes`, aligned to 256; valid until the next call. Growing waits for the device.
  std::byte* of(std::size_t bytes) {
    if (bytes > bytes_) {
      memory_ = nullptr;  // the old one need not find room beside the new one
      bytes_ = 0;
      memory_ = device_.allocate(bytes);
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  Device& device_;
  DeviceMemory memory_;
  std::size_t bytes_ = 0;
};

}  // namespace hbench::cuda
