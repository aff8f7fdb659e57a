#pragma once

#include <cstdint>
#include <memory>

#include "collectives/compressors/compressor.hpp"
#include "collectives/device/device.hpp"

namespace hbench {

/// Keeps what was not sent and adds it to the next gradient: residual = compensated - decode(encoded), rounded once.
/// What is not finite is not kept, so that one bad step spoils no other. All memory lies on `device`, which outlives
/// it and does its work.
std::unique_ptr<GradientMemory> make_error_feedback(std::int64_t elements, Device& device);

}  // namespace hbench
