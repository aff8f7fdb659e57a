#pragma once

/// The family of gradient compressors: how float32 elements travel.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "collectives/schedule.hpp"

namespace hbench {

/// One entry of the family. Every transfer of a schedule is encoded by its sender and decoded by its
/// receiver (a *per-hop* compressor): what was reduced is encoded again for the next hop.
struct Compressor {
  std::string_view name;
  std::string_view summary;
  std::string_view citation;
  /// Upper bound, in bytes, of the encoded form of `elements` elements; equals what `encode` writes.
  std::int64_t (*wire_bytes)(std::int64_t elements);
  /// Bytes read and written by one encode or decode, per byte of float32 input: what a
  /// memory-bound kernel costs. 0 means that nothing is done.
  double memory_traffic = 0;
  /// Largest |decode(encode(x)) - x| / |x| for normal x in the format's range; 0 is exact.
  double relative_error = 0;
  /// Writes `wire_bytes(in.size())` bytes to `out`.
  void (*encode)(std::span<const float> in, std::span<std::byte> out) = nullptr;
  /// Reads `wire_bytes(out.size())` bytes; replaces `out`, or adds to it when `kind` is reduce.
  void (*decode)(std::span<const std::byte> in, TransferKind kind, std::span<float> out) = nullptr;
};

/// The table, in the order in which `hbench list compressors` prints it.
std::span<const Compressor* const> compressors();

}  // namespace hbench
