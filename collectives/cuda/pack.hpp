#pragma once

/// Many tensors of a GPU as one buffer, and back, each in one launch.

#include <memory>
#include <span>

#include "collectives/cuda/launching_device.hpp"

namespace hbench::cuda {

/// Tensors in the order in which they lie in a buffer, without gaps. Made once, used in every step; the table of their
/// pieces lies on the GPU, and is there on return. \pre the tensors are memory of `device`, which outlives the packing,
/// and keep their addresses; buffers do not overlap them. \throws Error (environment), as do its members
std::unique_ptr<Packing> make_packing(LaunchingDevice& device, std::span<const std::span<std::byte>> tensors);

}  // namespace hbench::cuda
