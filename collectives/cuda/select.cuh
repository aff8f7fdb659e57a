#pragma once

/// Selecting the elements of the largest magnitude: exactly those of the host's `largest_elements`, of equal ones the
/// first, positions ascending. Nothing is sorted, and the host waits for nothing: what one kernel finds out, the next
/// one reads on the device.
///
/// The buffer is read once, by as good as all data; what comes after reads lists of candidates, which are somewhat more
/// elements than are wanted.
///
///     sample      counts the leading 12 bits of 65536 elements' magnitudes
///     guess       from that, a magnitude that by all probability somewhat more than the wanted elements reach
///     collect     one warp for each tile of 4096 elements lists those that reach it, in their order: reads n elements
///     digits      counts of the candidates' leading 12 bits, then of the next 10 and of the last 9, each of those that
///                 share the digits before: which the smallest wanted magnitude is, and how many are larger
///     count       the larger and the equal ones of each tile
///     add up      these counts: where each tile's selection begins, and which of its equal ones are wanted
///     emit        positions and values
///
/// A tile has few slots. One with more candidates (because they lie close together, or a great many are equal) is read
/// again wherever its list would be: five times. When fewer than the wanted elements reach the guess, all tiles are.
/// So the selection is exact whatever the data are, in one to six readings of the buffer.

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "collectives/cuda/random.cuh"
#include "collectives/cuda/walk.cuh"

namespace hbench::cuda {

/// Some of a magnitude's 31 bits.
struct Digit {
  unsigned shift;
  unsigned bits;
};
constexpr Digit kDigits[] = {{19, 12}, {9, 10}, {0, 9}};
constexpr std::uint32_t kMostBins = 1u << 12;
constexpr std::uint32_t kSampled = 1u << 16;

/// Lanes of a warp, what each loads in one access of collect, and what a warp has to itself.
constexpr unsigned kSelectLanes = 32;
constexpr unsigned kLaneElements = 4;
constexpr std::size_t kSelectTile = 4096;
constexpr unsigned kTileRows = kSelectTile / (kSelectLanes * kLaneElements);

struct alignas(8) Candidate {
  std::uint32_t position;
  std::uint32_t bits;
};

/// Elements larger than the smallest wanted one, and those equal to it.
struct alignas(8) Ranks {
  std::uint32_t larger;
  std::uint32_t equal;
};

/// What is found out about the whole.
struct Found {
  std::uint32_t least;      ///< the guess
  std::uint32_t reached;    ///< elements that reach it
  std::uint32_t magnitude;  ///< the digits so far of the smallest wanted one
  std::uint32_t larger;     ///< elements that are larger in those digits
};

HBENCH_ON_BOTH std::uint32_t magnitude_of(std::uint32_t bits) { return bits & 0x7fff'ffff; }
/// Bits of those lanes' votes that come before `lane`.
HBENCH_ON_BOTH unsigned votes_before(std::uint32_t votes, unsigned lane) {
  return count_bits(votes & ((1u << lane) - 1));
}

/// Slots of a tile: four times what it would need if the wanted elements were spread evenly, and some; half a tile at
/// most. \pre elements > 0
inline std::uint32_t slots_for(std::size_t elements, std::size_t wanted) {
  const std::size_t share = 4 * kSelectTile * wanted / elements + 32;
  return static_cast<std::uint32_t>(share < kSelectTile / 2 ? share : kSelectTile / 2);
}

/// The rank in the sample of what is wanted, four standard deviations lower. \pre elements > 0
inline std::uint32_t sampled_rank(std::size_t elements, std::size_t wanted) {
  const double share = elements < kSampled ? 1 : static_cast<double>(kSampled) / static_cast<double>(elements);
  const double expected = static_cast<double>(wanted) * share;
  return static_cast<std::uint32_t>(expected + 4 * std::sqrt(expected) + 4);
}

/// One selection, as all its kernels see it. \pre 0 < wanted <= elements < 2^32 - 1; floats aligned as such
struct Select {
  const std::byte* floats;
  std::size_t elements;
  std::uint32_t wanted;
  std::uint32_t slots;
  Found* found;
  std::uint32_t* reached;  ///< of each tile: its candidates, in slots or not
  Ranks* ranks;            ///< of each tile; added up, of all tiles before it
  Candidate* lists;        ///< of each tile: slots

  HBENCH_ON_BOTH std::size_t tiles() const { return (elements + kSelectTile - 1) / kSelectTile; }
  HBENCH_ON_BOTH bool aligned() const { return reinterpret_cast<std::uintptr_t>(floats) % 16 == 0; }
  HBENCH_ON_BOTH bool whole(std::size_t tile) const { return (tile + 1) * kSelectTile <= elements; }
  HBENCH_ON_BOTH std::uint32_t bits_at(std::size_t position) const {
    return load_aligned<std::uint32_t>(floats + 4 * position);
  }

  /// The magnitude of an element of the `i`-th of kSampled equal parts; false where that has none.
  HBENCH_ON_BOTH bool sample(std::uint32_t i, std::uint32_t& magnitude) const {
    const std::size_t begin = elements * i / kSampled;
    const std::size_t width = elements * (i + 1) / kSampled - begin;
    if (width == 0) return false;
    magnitude = magnitude_of(bits_at(begin + (width * mixed32(i) >> 32)));
    return true;
  }
};

/// A lane's part of a row of a tile.
struct SelectRow {
  Group<std::uint32_t, kLaneElements> bits;
};

HBENCH_ON_BOTH std::size_t row_begin(std::size_t tile, unsigned row, unsigned lane) {
  return tile * kSelectTile + (static_cast<std::size_t>(row) * kSelectLanes + lane) * kLaneElements;
}

/// \pre kWide: an aligned whole tile. Else zeros behind the end.
template <bool kWide>
HBENCH_ON_BOTH SelectRow take_row(const Select& work, std::size_t tile, unsigned row, unsigned lane) {
  const std::size_t first = row_begin(tile, row, lane);
  SelectRow taken;
  if constexpr (kWide) {
    taken.bits = load<std::uint32_t, kLaneElements>(work.floats + 4 * first);
  } else {
    HBENCH_UNROLL
    for (unsigned i = 0; i < kLaneElements; ++i)
      taken.bits.at[i] = first + i < work.elements ? work.bits_at(first + i) : 0;
  }
  return taken;
}

HBENCH_ON_BOTH bool reaches(const Select& work, std::size_t position, std::uint32_t bits, std::uint32_t least) {
  return magnitude_of(bits) >= least && position < work.elements;
}

/// Lists a lane's candidates. `votes`: of all lanes, whether their i-th element reaches `least`; `before`: candidates
/// of the rows before.
HBENCH_ON_BOTH void give_row(const Select& work, std::size_t tile, unsigned row, unsigned lane, const SelectRow& taken,
                             const std::uint32_t (&votes)[kLaneElements], std::uint32_t before) {
  std::uint32_t slot = before;
  HBENCH_UNROLL
  for (const std::uint32_t vote : votes) slot += votes_before(vote, lane);
  HBENCH_UNROLL
  for (unsigned i = 0; i < kLaneElements; ++i) {
    if ((votes[i] >> lane & 1) == 0) continue;
    if (slot < work.slots)
      work.lists[tile * work.slots + slot] = {static_cast<std::uint32_t>(row_begin(tile, row, lane) + i),
                                              taken.bits.at[i]};
    ++slot;
  }
}

/// The candidates of a tile, in their order: from its list, or all its elements.
struct TileView {
  const Candidate* list;  ///< null where there is none
  std::size_t first;
  std::uint32_t count;

  HBENCH_ON_BOTH Candidate at(const Select& work, std::uint32_t i) const {
    if (list != nullptr) return list[i];
    return {static_cast<std::uint32_t>(first + i), work.bits_at(first + i)};
  }
};

HBENCH_ON_BOTH TileView view_of(const Select& work, std::size_t tile) {
  const std::size_t first = tile * kSelectTile;
  const std::uint32_t reached = work.reached[tile];
  if (work.found->reached >= work.wanted && reached <= work.slots)
    return {work.lists + tile * work.slots, first, reached};
  return {nullptr, first, static_cast<std::uint32_t>(work.whole(tile) ? kSelectTile : work.elements - first)};
}

/// The bin of a digit that a candidate counts for; false for those that differ in the digits before.
template <unsigned kDigit>
HBENCH_ON_BOTH bool bin_of(std::uint32_t bits, std::uint32_t magnitude, std::uint32_t& bin) {
  constexpr unsigned kKnown = kDigits[kDigit].shift + kDigits[kDigit].bits;
  bin = magnitude_of(bits) >> kDigits[kDigit].shift & ((1u << kDigits[kDigit].bits) - 1);
  return magnitude_of(bits) >> kKnown == magnitude >> kKnown;
}

/// How threads find the bin in which counts, added up from the largest bin on, reach a rank. Each has some bins in a
/// row; thread 0 the largest. \pre bins is a multiple of threads
struct BinSearch {
  const std::uint32_t* counts;
  std::uint32_t bins;
  unsigned threads;

  HBENCH_ON_BOTH std::uint32_t each() const { return bins / threads; }
  HBENCH_ON_BOTH std::uint32_t bin(unsigned thread, std::uint32_t i) const { return bins - 1 - (thread * each() + i); }
  HBENCH_ON_BOTH std::uint32_t sum(unsigned thread) const {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < each(); ++i) sum += counts[bin(thread, i)];
    return sum;
  }
  /// `before`: the sum of the threads before; becomes that of the bins before the one that is found. False where it is
  /// not this thread's. \pre rank > 0
  HBENCH_ON_BOTH bool find(unsigned thread, std::uint32_t rank, std::uint32_t& before, std::uint32_t& found) const {
    if (before >= rank) return false;
    for (std::uint32_t i = 0; i < each(); ++i) {
      found = bin(thread, i);
      if (before + counts[found] >= rank) return true;
      before += counts[found];
    }
    return false;
  }
};

/// A candidate's place in the selection; false where it is not in it. The votes of all lanes, and the ranks before
/// them.
HBENCH_ON_BOTH bool place_of(const Select& work, unsigned lane, std::uint32_t larger_votes, std::uint32_t equal_votes,
                             const Ranks& before, std::uint32_t& place) {
  const std::uint32_t equal_wanted = work.wanted - work.found->larger;
  const std::uint32_t larger = before.larger + votes_before(larger_votes, lane);
  const std::uint32_t equal = before.equal + votes_before(equal_votes, lane);
  place = larger + (equal < equal_wanted ? equal : equal_wanted);
  return (larger_votes >> lane & 1) != 0 || ((equal_votes >> lane & 1) != 0 && equal < equal_wanted);
}

/// An encoding of `compressors/select`: a count, positions, values.
struct SparseWire {
  std::byte* wire;
  std::size_t count;

  HBENCH_ON_BOTH std::byte* position_at(std::size_t i) const { return wire + 4 + 4 * i; }
  HBENCH_ON_BOTH std::byte* value_at(std::size_t i) const { return wire + 4 + 4 * (count + i); }
  HBENCH_ON_BOTH void give_count() const { store_one(wire, static_cast<std::uint32_t>(count)); }
  HBENCH_ON_BOTH void give(std::size_t i, std::uint32_t position, std::uint32_t bits) const {
    store_one(position_at(i), position);
    store_one(value_at(i), bits);
  }
};

/// Adds values at positions, which differ; ignores those that are outside. The count is not believed: the size says it.
struct AddSparse {
  static constexpr int kGroup = 1;
  template <int kCount>
  struct Taken {
    std::uint32_t position;
    float value;
    float sum;
  };

  const std::byte* wire;
  std::size_t count;
  std::byte* floats;
  std::size_t elements;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t i) const {
    Taken<kCount> taken{load_one<std::uint32_t>(wire + 4 + 4 * i), load_one<float>(wire + 4 + 4 * (count + i)), 0};
    if (taken.position < elements) taken.sum = load_aligned<float>(floats + 4 * std::size_t{taken.position});
    return taken;
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t, const Taken<kCount>& taken) const {
    if (taken.position < elements) store_one(floats + 4 * std::size_t{taken.position}, taken.sum + taken.value);
  }
};

}  // namespace hbench::cuda
