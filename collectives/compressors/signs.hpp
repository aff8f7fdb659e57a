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

  SignedSums& operator+=(const SignedSums& other) {
    positive += other.positive;
    negative += other.negative;
    negatives += other.negatives;
    return *this;
  }
};

/// The order of additions, which depends on nothing but the size, so that every processor and GPU gets the same bits.
/// Elements are read in rows of kLanes, each column added up in float32 (in float64 where that is not finite) over
/// kPiece elements, then the columns one by one; what fills no row is a piece of its own, filled up with zeros. Pieces
/// are dealt to kAdders sums in turn, and those added pairwise: i and i + kAdders / 2, then i and i + kAdders / 4, ...
namespace sign_sums {
inline constexpr std::size_t kLanes = 16;    ///< what the widest vector has
inline constexpr std::size_t kPiece = 4096;  ///< so few elements that float32 adds them well
inline constexpr std::size_t kAdders = 256;
}  // namespace sign_sums

/// In that order.
SignedSums signed_sums(std::span<const float> in);

}  // namespace hbench
