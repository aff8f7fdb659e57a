#pragma once

/// Copying between many tensors and one buffer that holds them without gaps: what one block does with one piece.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/cuda/walk.cuh"

namespace hbench::cuda {

/// A part of one tensor, and where it lies in the buffer.
struct Piece {
  std::byte* tensor;
  std::size_t offset;
  std::size_t bytes;
};

/// So much that all threads of a block have their loads in flight; so little that blocks finish together.
constexpr std::size_t kPieceBytes = kTile * 16;

inline std::vector<Piece> pieces_of(std::span<const std::span<std::byte>> tensors) {
  std::vector<Piece> pieces;
  std::size_t offset = 0;
  for (const std::span<std::byte> tensor : tensors) {
    for (std::size_t at = 0; at < tensor.size(); at += kPieceBytes)
      pieces.push_back({tensor.data() + at, offset + at, std::min(kPieceBytes, tensor.size() - at)});
    offset += tensor.size();
  }
  return pieces;
}

/// to = from, in units of which one may be alone.
template <class Unit>
struct Copy {
  static constexpr int kGroup = 16 / sizeof(Unit);
  template <int kCount>
  using Taken = Group<Unit, kCount>;

  const std::byte* from;
  std::byte* to;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t unit) const {
    return load<Unit, kCount>(from + unit * sizeof(Unit));
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t unit, const Taken<kCount>& taken) const {
    store(to + unit * sizeof(Unit), taken);
  }
};

template <class Unit>
HBENCH_ON_BOTH void copy_units(const std::byte* from, std::byte* to, std::size_t bytes, unsigned thread) {
  const Side sides[] = {{from, sizeof(Unit)}, {to, sizeof(Unit)}};
  walk(Copy<Unit>{from, to}, extent_of(bytes / sizeof(Unit), 16 / sizeof(Unit), sides), {0, 1, thread});
}

/// One thread's part of copying `bytes`, which a block shares. Floats are copied as such where their neighbours in
/// tensor and buffer are aligned differently.
HBENCH_ON_BOTH void copy_piece(const std::byte* from, std::byte* to, std::size_t bytes, unsigned thread) {
  const auto addresses = reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to) | bytes;
  if (addresses % 4 == 0) {
    copy_units<std::uint32_t>(from, to, bytes, thread);
  } else {
    copy_units<std::uint8_t>(from, to, bytes, thread);
  }
}

}  // namespace hbench::cuda
