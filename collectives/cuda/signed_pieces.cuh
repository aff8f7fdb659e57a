#pragma once

/// Pieces of signs and their sums, whose additions are in the order of `compressors/signs.hpp`.

#include <cstddef>
#include <cstdint>

#include "collectives/compressors/signs.hpp"
#include "collectives/cuda/portable.cuh"

namespace hbench::cuda {

/// Sums of the elements with a plus and of those with a minus.
template <class T>
struct alignas(2 * sizeof(T)) Signed {
  T positive;
  T negative;
};

/// 16 lanes, half a warp, have a piece: each lane adds up a column, and all of them gather the signs. In between, for
/// each row, the votes of all lanes on "minus" are counted.
struct EncodeSign {
  static constexpr unsigned kLanes = sign_sums::kLanes;
  /// Rows that are loaded before the first is used. As many as lanes: each lane stores the signs of one.
  static constexpr unsigned kRows = kLanes;
  static constexpr std::size_t kPiece = sign_sums::kPiece;
  struct Taken {
    float at[kRows];
  };
  struct Part {
    std::size_t begin;
    std::size_t end;
  };

  const std::byte* floats;
  std::byte* signs;
  std::size_t elements;

  HBENCH_ON_BOTH std::size_t whole() const { return elements / kLanes * kLanes; }
  HBENCH_ON_BOTH std::size_t pieces() const { return (whole() + kPiece - 1) / kPiece + (whole() < elements ? 1 : 0); }
  /// The last one is what fills no row. Empty behind that.
  HBENCH_ON_BOTH Part part(std::size_t piece) const {
    const std::size_t begin = piece * kPiece;
    if (piece >= pieces()) return {elements, elements};
    if (begin >= whole()) return {whole(), elements};
    return {begin, begin + kPiece < whole() ? begin + kPiece : whole()};
  }
  static HBENCH_ON_BOTH unsigned batches(const Part& part) {
    constexpr std::size_t kBatch = static_cast<std::size_t>(kRows) * kLanes;
    return static_cast<unsigned>((part.end - part.begin + kBatch - 1) / kBatch);
  }
  static HBENCH_ON_BOTH std::size_t row(const Part& part, unsigned batch, unsigned i) {
    return part.begin + (static_cast<std::size_t>(batch) * kRows + i) * kLanes;
  }

  /// Zeros behind the end, which change no sum.
  HBENCH_ON_BOTH Taken take(const Part& part, unsigned batch, unsigned lane) const {
    Taken taken;
    HBENCH_UNROLL
    for (unsigned i = 0; i < kRows; ++i) {
      const std::size_t element = row(part, batch, i) + lane;
      taken.at[i] = element < part.end ? load_aligned<float>(floats + 4 * element) : 0.0F;
    }
    return taken;
  }
  static HBENCH_ON_BOTH bool minus(float x) { return same_bits<std::uint32_t>(x) >> 31 != 0; }
  static HBENCH_ON_BOTH void add(const Taken& taken, Signed<float>& sums) {
    HBENCH_UNROLL
    for (const float x : taken.at) {
      sums.positive += minus(x) ? 0.0F : x;
      sums.negative += minus(x) ? x : 0.0F;
    }
  }
  /// `votes` of the batch's row number `lane`.
  HBENCH_ON_BOTH void give(const Part& part, unsigned batch, unsigned lane, std::uint32_t votes) const {
    const std::size_t element = row(part, batch, lane);
    if (element >= part.end) return;
    std::byte* const at = signs + element / 8;
    if (element + 8 < part.end) {
      store_one(at, static_cast<std::uint16_t>(votes));
    } else {
      store_one(at, static_cast<std::uint8_t>(votes));
    }
  }
  /// What a lane adds to the piece's sums.
  HBENCH_ON_BOTH Signed<double> wide(const Part& part, unsigned lane, const Signed<float>& sums) const {
    return {finite(sums.positive) ? static_cast<double>(sums.positive) : sum_of_large(part, lane, false),
            finite(sums.negative) ? static_cast<double>(sums.negative) : sum_of_large(part, lane, true)};
  }

 private:
  static HBENCH_ON_BOTH bool finite(float x) { return (same_bits<std::uint32_t>(x) & 0x7fff'ffff) < 0x7f80'0000; }
  HBENCH_ON_BOTH double sum_of_large(const Part& part, unsigned lane, bool of_minus) const {
    double sum = 0;
    for (std::size_t element = part.begin + lane; element < part.end; element += kLanes) {
      const auto x = load_aligned<float>(floats + 4 * element);
      if (minus(x) == of_minus) sum += static_cast<double>(x);
    }
    return sum;
  }
};

}  // namespace hbench::cuda
