#pragma once

/// Some elements of a buffer, the rest being zero: a 32-bit count, the positions (32 bits each, ascending), the values.

#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/compressors/compressor.hpp"

namespace hbench {

/// Bytes for `count` elements.
constexpr std::int64_t sparse_bytes(std::int64_t count) {
  return static_cast<std::int64_t>(sizeof(std::uint32_t)) +
         count * static_cast<std::int64_t>(sizeof(std::uint32_t) + sizeof(float));
}

/// \throws Error (usage) for a buffer whose positions 32 bits do not hold.
void expect_short_positions(std::int64_t elements);

/// ratio x elements, rounded up; none of none.
std::int64_t share_of(std::int64_t elements, double ratio);

/// Writes in[p] for every p of `positions`, which ascend. Returns the bytes written.
std::int64_t encode_sparse(std::span<const float> in, std::span<const std::uint32_t> positions,
                           std::span<std::byte> out);

/// \throws Error (wrong_data) for sizes that do not fit together, and positions that do not ascend or are outside.
void decode_sparse(std::span<const std::byte> in, TransferKind kind, std::span<float> out);

}  // namespace hbench
