#pragma once

/// What compressors do with signs. A sign is a bit, 1 for minus (also of zeros and NaN): element i's is bit i % 8 of
/// byte i / 8; unused bits are 0.

#include <cstddef>
#include <cstdint>
#include <span>

namespace hbench {

constexpr std::int64_t sign_bytes(std::int64_t elements) { return (elements + 7) / 8; }

/// \pre signs.size() == sign_bytes(in.size())
void pack_signs(std::span<const float> in, std::span<std::byte> signs);

/// 0x80000000 for minus, else 0. \pre signs.size() >= sign_bytes(out.size())
void unpack_signs(std::span<const std::byte> signs, std::span<std::uint32_t> out);

struct SignedSums {
  double positive = 0;  ///< of the elements with a plus
  double negative = 0;  ///< of those with a minus; not positive
  std::int64_t negatives = 0;
};

/// Added in an order that is the same on every processor.
SignedSums signed_sums(std::span<const float> in);

}  // namespace hbench
