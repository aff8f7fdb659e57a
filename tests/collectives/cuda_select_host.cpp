#include "tests/collectives/cuda_select_host.hpp"

#include <vector>

#include "collectives/cuda/select.cuh"

namespace hbench::support {
namespace {

using namespace cuda;  // NOLINT(google-build-using-namespace)

/// Threads that look for a bin, as many as a block has.
bool find_bin(const std::vector<std::uint32_t>& counts, std::uint32_t rank, std::uint32_t& bin, std::uint32_t& above) {
  const BinSearch search{counts.data(), static_cast<std::uint32_t>(counts.size()), kThreads};
  std::uint32_t before = 0;
  int finders = 0;
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    std::uint32_t mine = before;
    std::uint32_t found = 0;
    if (search.find(thread, rank, mine, found)) {
      ++finders;
      bin = found;
      above = mine;
    }
    before += search.sum(thread);
  }
  return finders == 1;
}

std::uint32_t guessed(const Select& work) {
  std::vector<std::uint32_t> counts(kMostBins);
  std::uint32_t magnitude = 0;
  for (std::uint32_t i = 0; i < kSampled; ++i)
    if (work.sample(i, magnitude)) ++counts[magnitude >> kDigits[0].shift];
  std::uint32_t bin = 0;
  std::uint32_t above = 0;
  return find_bin(counts, sampled_rank(work.elements, work.wanted), bin, above) ? bin << kDigits[0].shift : 0;
}

void collect(const Select& work, std::size_t tile) {
  const bool wide = work.aligned() && work.whole(tile);
  std::uint32_t before = 0;
  for (unsigned row = 0; row < kTileRows; ++row) {
    SelectRow taken[kSelectLanes];
    std::uint32_t votes[kLaneElements]{};
    for (unsigned lane = 0; lane < kSelectLanes; ++lane) {
      taken[lane] = wide ? take_row<true>(work, tile, row, lane) : take_row<false>(work, tile, row, lane);
      for (unsigned i = 0; i < kLaneElements; ++i)
        if (reaches(work, row_begin(tile, row, lane) + i, taken[lane].bits.at[i], work.found->least))
          votes[i] |= 1u << lane;
    }
    for (unsigned lane = 0; lane < kSelectLanes; ++lane) give_row(work, tile, row, lane, taken[lane], votes, before);
    for (const std::uint32_t vote : votes) before += count_bits(vote);
  }
  work.reached[tile] = before;
  work.found->reached += before;
}

template <unsigned kDigit>
void find_digit(const Select& work) {
  std::vector<std::uint32_t> counts(std::size_t{1} << kDigits[kDigit].bits);
  for (std::size_t tile = 0; tile < work.tiles(); ++tile) {
    const TileView view = view_of(work, tile);
    std::uint32_t bin = 0;
    for (std::uint32_t i = 0; i < view.count; ++i)
      if (bin_of<kDigit>(view.at(work, i).bits, work.found->magnitude, bin)) ++counts[bin];
  }
  std::uint32_t bin = 0;
  std::uint32_t above = 0;
  if (!find_bin(counts, work.wanted - work.found->larger, bin, above)) std::abort();
  work.found->magnitude |= bin << kDigits[kDigit].shift;
  work.found->larger += above;
}

/// Calls `use(candidates, larger votes, equal votes)` for each line of 32.
template <class Use>
void for_each_line(const Select& work, std::size_t tile, Use use) {
  const TileView view = view_of(work, tile);
  for (std::uint32_t first = 0; first < view.count; first += kSelectLanes) {
    Candidate line[kSelectLanes]{};
    std::uint32_t larger = 0;
    std::uint32_t equal = 0;
    for (unsigned lane = 0; lane < kSelectLanes && first + lane < view.count; ++lane) {
      line[lane] = view.at(work, first + lane);
      larger |= (magnitude_of(line[lane].bits) > work.found->magnitude ? 1u : 0u) << lane;
      equal |= (magnitude_of(line[lane].bits) == work.found->magnitude ? 1u : 0u) << lane;
    }
    use(line, larger, equal);
  }
}

void emit(const Select& work, std::size_t tile, Ranks& before, const SparseWire& out) {
  for_each_line(work, tile, [&](const auto& line, std::uint32_t larger, std::uint32_t equal) {
    std::uint32_t place = 0;
    for (unsigned lane = 0; lane < kSelectLanes; ++lane)
      if (place_of(work, lane, larger, equal, before, place)) out.give(place, line[lane].position, line[lane].bits);
    before.larger += count_bits(larger);
    before.equal += count_bits(equal);
  });
}

}  // namespace

SelectPath select_on_host(const std::byte* floats, std::size_t elements, std::size_t wanted, std::byte* wire,
                          std::optional<std::uint32_t> least) {
  Found found{};
  Select work{floats, elements, static_cast<std::uint32_t>(wanted), slots_for(elements, wanted), &found, {}, {}, {}};
  std::vector<std::uint32_t> reached(work.tiles());
  std::vector<Candidate> lists(work.tiles() * work.slots);
  work.reached = reached.data();
  work.lists = lists.data();
  found.least = least ? *least : guessed(work);
  for (std::size_t tile = 0; tile < work.tiles(); ++tile) collect(work, tile);
  find_digit<0>(work);
  find_digit<1>(work);
  find_digit<2>(work);
  const SparseWire out{wire, wanted};
  out.give_count();
  SelectPath path{work.tiles()};
  Ranks before{0, 0};
  for (std::size_t tile = 0; tile < work.tiles(); ++tile) {
    path.listed += view_of(work, tile).list != nullptr ? 1 : 0;
    emit(work, tile, before, out);
  }
  return path;
}

}  // namespace hbench::support
