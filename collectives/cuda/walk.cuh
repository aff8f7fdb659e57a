#pragma once

/// Shares elements among the threads of a grid. A kernel is a work item (what is loaded, what becomes of it) and a
/// walk.
///
/// A work item `Work` has `kGroup`, the elements of a wide access; `Taken<kCount>`, what is loaded for `kCount`
/// elements; `take<kCount>(element)`, which loads; and `give<kCount>(element, taken)`, which stores. kCount is kGroup
/// or 1. Only one thread touches an element, and loads all of it before it stores.

#include <cstddef>
#include <cstdint>

#include "collectives/cuda/portable.cuh"

namespace hbench::cuda {

constexpr unsigned kThreads = 256;
/// Groups that a thread loads before it uses the first of them: memory is far away.
constexpr unsigned kInFlight = 4;
constexpr std::size_t kTile = static_cast<std::size_t>(kThreads) * kInFlight;

/// Elements of a buffer: `head` single ones, then `groups` that begin where every buffer is aligned, then the rest.
struct Extent {
  std::size_t elements = 0;
  std::size_t head = 0;
  std::size_t groups = 0;
};

/// One of the buffers that a work item reads or writes.
struct Side {
  const void* address;
  std::size_t element_bytes;
};

/// Groups of `group` elements, aligned in every buffer to as many bytes as a group has there (16 at most); none where
/// no beginning is.
template <std::size_t kSides>
HBENCH_ON_BOTH Extent extent_of(std::size_t elements, std::size_t group, const Side (&sides)[kSides]) {
  for (std::size_t head = 0; head < group && head < elements; ++head) {
    bool aligned = true;
    for (const Side& side : sides) {
      const std::size_t bytes = group * side.element_bytes;
      const auto address = reinterpret_cast<std::uintptr_t>(side.address) + head * side.element_bytes;
      aligned = aligned && address % (bytes < 16 ? bytes : 16) == 0;
    }
    if (aligned) return {elements, head, (elements - head) / group};
  }
  return {elements, 0, 0};
}

/// Of floats whose encodings can be read in groups that begin at multiples of `group` alone: otherwise none.
HBENCH_ON_BOTH Extent extent_from_first(const std::byte* floats, std::size_t elements, std::size_t group) {
  const Side sides[] = {{floats, 4}};
  const Extent extent = extent_of(elements, group, sides);
  return extent.head == 0 ? extent : Extent{elements, 0, 0};
}

/// A thread's.
struct Place {
  std::size_t block;
  std::size_t blocks;
  unsigned thread;
};

/// `count` groups; the first element of the i-th is `at(i)`.
template <int kCount, class Work, class At>
HBENCH_ON_BOTH void walk_groups(const Work& work, std::size_t count, const Place& place, At at) {
  for (std::size_t tile = place.block; tile * kTile < count; tile += place.blocks) {
    const std::size_t first = tile * kTile + place.thread;
    if ((tile + 1) * kTile <= count) {
      typename Work::template Taken<kCount> taken[kInFlight];
      HBENCH_UNROLL
      for (unsigned i = 0; i < kInFlight; ++i) taken[i] = work.template take<kCount>(at(first + i * kThreads));
      HBENCH_UNROLL
      for (unsigned i = 0; i < kInFlight; ++i) work.template give<kCount>(at(first + i * kThreads), taken[i]);
    } else {
      typename Work::template Taken<kCount> taken[kInFlight]{};
      HBENCH_UNROLL
      for (unsigned i = 0; i < kInFlight; ++i)
        if (first + i * kThreads < count) taken[i] = work.template take<kCount>(at(first + i * kThreads));
      HBENCH_UNROLL
      for (unsigned i = 0; i < kInFlight; ++i)
        if (first + i * kThreads < count) work.template give<kCount>(at(first + i * kThreads), taken[i]);
    }
  }
}

/// Does one thread's part of the work.
template <class Work>
HBENCH_ON_BOTH void walk(const Work& work, const Extent& extent, const Place& place) {
  const std::size_t head = extent.head;
  const std::size_t wide = extent.groups * Work::kGroup;
  walk_groups<Work::kGroup>(work, extent.groups, place, [head](std::size_t i) { return head + i * Work::kGroup; });
  walk_groups<1>(work, extent.elements - wide, place, [head, wide](std::size_t i) { return i < head ? i : i + wide; });
}

/// Tiles that there are to share.
inline std::size_t tiles_of(const Extent& extent, std::size_t group) {
  const std::size_t singles = extent.elements - extent.groups * group;
  const std::size_t most = extent.groups > singles ? extent.groups : singles;
  return (most + kTile - 1) / kTile;
}

}  // namespace hbench::cuda
