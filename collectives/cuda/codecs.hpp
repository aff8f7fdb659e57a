#pragma once

/// Compressors whose codecs run on a GPU too.

#include <memory>
#include <span>
#include <string_view>

#include "collectives/compressors/compressor.hpp"
#include "collectives/device/device.hpp"

namespace hbench {

/// One entry of the family.
struct CudaCodec {
  std::string_view name;  ///< of the compressor
  /// The codec of `choice`, a choice of this compressor, on memory that `device` reaches. `encode` and `decode` return
  /// before their work is done, in the device's order; encodings have `max_wire_bytes` bytes, at any address. They are
  /// what the codec on the host writes, byte for byte; what is read likewise. Only which NaN a decoded NaN is may
  /// differ. Used by the device's thread alone. \pre the device outlives the codec. \throws Error (internal) when the
  /// device does not come from make_cuda_device; encoding and decoding, (environment) where it fails.
  std::shared_ptr<const Codec> (*make)(Device& device, const CompressorChoice& choice);
};

/// The table.
std::span<const CudaCodec* const> cuda_codecs();

/// Null for a compressor that has none.
const CudaCodec* find_cuda_codec(std::string_view compressor);

}  // namespace hbench
