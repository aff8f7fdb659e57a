#pragma once

/// Many tensors of a GPU as one buffer, and back, each in one launch.

#include <cstddef>
#include <span>

#include "collectives/device/device.hpp"

namespace hbench {

/// Tensors in the order in which they lie in a buffer, without gaps. Made once, used in every step; what it is made of
/// lies on the GPU.
struct CudaTensors {
  DeviceMemory pieces;
  std::size_t piece_count = 0;
  std::size_t bytes = 0;  ///< of the buffer
};

/// \pre `device` comes from make_cuda_device and reaches the tensors, which keep their addresses. Returns when the
/// table is on the GPU. \throws Error (environment)
CudaTensors cuda_tensors(Device& device, std::span<const std::span<std::byte>> tensors);

/// Buffer = tensors, tensors = buffer. \pre `device` is that of the tensors; the buffer has `tensors.bytes` and does
/// not overlap them; `tensors` lives until the work is done. \throws Error (environment)
void cuda_pack(Device& device, const CudaTensors& tensors, std::span<std::byte> to);
void cuda_unpack(Device& device, std::span<const std::byte> from, const CudaTensors& tensors);

}  // namespace hbench
