#pragma once

/// Compressors whose codecs run on a GPU too.

#include <cstddef>
#include <span>
#include <string_view>

#include "collectives/executors/device.hpp"
#include "collectives/schedule.hpp"

namespace hbench {

/// One entry of the family. What it writes is what the codec of the compressor of this name writes on the host, byte
/// for byte; what it reads likewise. Only which NaN a decoded NaN is may differ.
///
/// \pre the device comes from make_cuda_device and reaches the memory; the encoded form has `max_wire_bytes` bytes, at
/// any address. \throws Error (environment)
struct CudaCodec {
  std::string_view name;
  void (*encode)(Device& device, std::span<const float> in, std::span<std::byte> out);
  /// Replaces `out`, or adds to it when `kind` is reduce.
  void (*decode)(Device& device, std::span<const std::byte> in, TransferKind kind, std::span<float> out);
};

/// The table.
std::span<const CudaCodec* const> cuda_codecs();

/// Null for a compressor that has none.
const CudaCodec* find_cuda_codec(std::string_view compressor);

}  // namespace hbench
