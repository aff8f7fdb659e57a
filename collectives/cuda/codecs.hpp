#pragma once

/// Compressors whose codecs, or products, run on a GPU too.

#include <memory>
#include <span>
#include <string_view>

#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/low_rank.hpp"
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

/// PowerSGD's products on a GPU. `expand` and `renew_lost_columns` give the host's bits. The others add in another
/// order, which depends on the shape alone: a sum of n products is within (n / 256 + 16) 2^-24 of the sum of their
/// magnitudes (`multiply`), or (256 + n / 256) 2^-24 of it (`multiply_transposed`); `orthonormalise` is the host's to
/// float32's rounding.
///
/// \pre the device outlives them. \throws Error (internal) when it does not come from make_cuda_device
std::unique_ptr<LowRankProducts> make_cuda_low_rank_products(Device& device);

}  // namespace hbench
