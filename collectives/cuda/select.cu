#include "collectives/cuda/select.cuh"

#include <span>

#include "collectives/cuda/codecs.hpp"
#include "collectives/cuda/launch.cuh"
#include "collectives/cuda/launched_codec.hpp"

namespace hbench::cuda {
namespace {

constexpr unsigned kWarps = kThreads / kWarp;
/// Rows of a tile that a warp loads before it uses the first; of a list or a tile that is read again, lines of 32.
constexpr unsigned kRowsInFlight = 4;
constexpr unsigned kLinesInFlight = 4;

// How blocks count; all threads of a block call these together.

/// Counts of a block, in shared memory; later added to those of all.
struct BlockCounts {
  std::uint32_t at[kMostBins];

  __device__ void clear() {
    for (unsigned i = threadIdx.x; i < kMostBins; i += kThreads) at[i] = 0;
    __syncthreads();
  }
  __device__ void add_to(std::uint32_t* counts) {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < kMostBins; i += kThreads)
      if (at[i] != 0) atomicAdd(counts + i, at[i]);
  }
};

/// What the threads before this one have. One block; `shared` has kThreads numbers.
__device__ std::uint32_t sum_before(std::uint32_t mine, std::uint32_t* shared) {
  shared[threadIdx.x] = mine;
  for (unsigned distance = 1; distance < kThreads; distance *= 2) {
    __syncthreads();
    const std::uint32_t other = threadIdx.x >= distance ? shared[threadIdx.x - distance] : 0;
    __syncthreads();
    shared[threadIdx.x] += other;
  }
  const std::uint32_t before = shared[threadIdx.x] - mine;
  __syncthreads();
  return before;
}

/// One block. Finds the bin of `rank`, and leaves the counts cleared. False in all threads but one.
__device__ bool find_bin(std::uint32_t* counts, std::uint32_t bins, std::uint32_t rank, std::uint32_t& bin,
                         std::uint32_t& above) {
  __shared__ std::uint32_t sums[kThreads];
  const BinSearch search{counts, bins, kThreads};
  above = sum_before(search.sum(threadIdx.x), sums);
  const bool found = search.find(threadIdx.x, rank, above, bin);
  for (std::uint32_t i = 0; i < search.each(); ++i) counts[search.bin(threadIdx.x, i)] = 0;
  return found;
}

__device__ std::size_t tile_of_warp() { return static_cast<std::size_t>(blockIdx.x) * kWarps + threadIdx.x / kWarp; }

__global__ void __launch_bounds__(kThreads) sample(const Select work, std::uint32_t* counts) {
  __shared__ BlockCounts of_block;
  of_block.clear();
  std::uint32_t magnitude = 0;
  for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < kSampled; i += gridDim.x * kThreads)
    if (work.sample(i, magnitude)) atomicAdd(of_block.at + (magnitude >> kDigits[0].shift), 1);
  of_block.add_to(counts);
}

__global__ void __launch_bounds__(kThreads) guess(Found* found, std::uint32_t* counts, std::uint32_t rank) {
  std::uint32_t bin = 0;
  std::uint32_t above = 0;
  if (find_bin(counts, kMostBins, rank, bin, above)) found->least = bin << kDigits[0].shift;
}

template <bool kWide>
__device__ std::uint32_t collect_tile(const Select& work, std::size_t tile, unsigned lane) {
  const std::uint32_t least = work.found->least;
  std::uint32_t before = 0;
  for (unsigned first = 0; first < kTileRows; first += kRowsInFlight) {
    SelectRow rows[kRowsInFlight];
    HBENCH_UNROLL
    for (unsigned i = 0; i < kRowsInFlight; ++i) rows[i] = take_row<kWide>(work, tile, first + i, lane);
    HBENCH_UNROLL
    for (unsigned i = 0; i < kRowsInFlight; ++i) {
      const std::size_t position = row_begin(tile, first + i, lane);
      std::uint32_t votes[kLaneElements];
      HBENCH_UNROLL
      for (unsigned k = 0; k < kLaneElements; ++k)
        votes[k] = __ballot_sync(kAllLanes, kWide ? magnitude_of(rows[i].bits.at[k]) >= least
                                                  : reaches(work, position + k, rows[i].bits.at[k], least));
      give_row(work, tile, first + i, lane, rows[i], votes, before);
      HBENCH_UNROLL
      for (const std::uint32_t vote : votes) before += count_bits(vote);
    }
  }
  return before;
}

/// One tile to a warp, all of whose lanes take the same way.
__global__ void __launch_bounds__(kThreads, 4) collect(const Select work) {
  const std::size_t tile = tile_of_warp();
  if (tile >= work.tiles()) return;
  const unsigned lane = threadIdx.x % kWarp;
  const std::uint32_t reached =
      work.aligned() && work.whole(tile) ? collect_tile<true>(work, tile, lane) : collect_tile<false>(work, tile, lane);
  if (lane != 0) return;
  work.reached[tile] = reached;
  atomicAdd(&work.found->reached, reached);
}

/// Calls `use(candidate, there)` for each line of candidates of a tile, in all lanes.
template <class Use>
__device__ void for_each_line(const Select& work, std::size_t tile, Use use) {
  const TileView view = view_of(work, tile);
  for (std::uint32_t first = threadIdx.x % kWarp; first - threadIdx.x % kWarp < view.count;
       first += kWarp * kLinesInFlight) {
    Candidate lines[kLinesInFlight]{};
    HBENCH_UNROLL
    for (unsigned i = 0; i < kLinesInFlight; ++i)
      if (first + i * kWarp < view.count) lines[i] = view.at(work, first + i * kWarp);
    HBENCH_UNROLL
    for (unsigned i = 0; i < kLinesInFlight; ++i) use(lines[i], first + i * kWarp < view.count);
  }
}

template <unsigned kDigit>
__global__ void __launch_bounds__(kThreads) count_digits(const Select work, std::uint32_t* counts) {
  __shared__ BlockCounts of_block;
  of_block.clear();
  const std::uint32_t magnitude = work.found->magnitude;
  for (std::size_t tile = tile_of_warp(); tile < work.tiles(); tile += static_cast<std::size_t>(gridDim.x) * kWarps)
    for_each_line(work, tile, [&](const Candidate& candidate, bool there) {
      std::uint32_t bin = 0;
      if (there && bin_of<kDigit>(candidate.bits, magnitude, bin)) atomicAdd(of_block.at + bin, 1);
    });
  of_block.add_to(counts);
}

template <unsigned kDigit>
__global__ void __launch_bounds__(kThreads) choose_digit(const Select work, std::uint32_t* counts) {
  std::uint32_t bin = 0;
  std::uint32_t above = 0;
  const std::uint32_t rank = work.wanted - work.found->larger;
  __syncthreads();
  if (!find_bin(counts, 1u << kDigits[kDigit].bits, rank, bin, above)) return;
  work.found->magnitude |= bin << kDigits[kDigit].shift;
  work.found->larger += above;
}

struct LineVotes {
  std::uint32_t larger;
  std::uint32_t equal;
};
__device__ LineVotes votes_on(const Candidate& candidate, bool there, std::uint32_t magnitude) {
  const std::uint32_t mine = magnitude_of(candidate.bits);
  return {__ballot_sync(kAllLanes, there && mine > magnitude), __ballot_sync(kAllLanes, there && mine == magnitude)};
}

__global__ void __launch_bounds__(kThreads) count_ranks(const Select work) {
  const std::size_t tile = tile_of_warp();
  if (tile >= work.tiles()) return;
  const std::uint32_t magnitude = work.found->magnitude;
  Ranks ranks{0, 0};
  for_each_line(work, tile, [&](const Candidate& candidate, bool there) {
    const LineVotes votes = votes_on(candidate, there, magnitude);
    ranks.larger += count_bits(votes.larger);
    ranks.equal += count_bits(votes.equal);
  });
  if (threadIdx.x % kWarp == 0) work.ranks[tile] = ranks;
}

/// One block: each thread has some tiles in a row.
__global__ void __launch_bounds__(kThreads) add_up_ranks(const Select work) {
  __shared__ std::uint32_t sums[kThreads];
  const std::size_t each = (work.tiles() + kThreads - 1) / kThreads;
  const std::size_t begin = min(threadIdx.x * each, work.tiles());
  const std::size_t end = min(begin + each, work.tiles());
  Ranks sum{0, 0};
  for (std::size_t tile = begin; tile < end; ++tile) {
    sum.larger += work.ranks[tile].larger;
    sum.equal += work.ranks[tile].equal;
  }
  sum = {sum_before(sum.larger, sums), sum_before(sum.equal, sums)};
  for (std::size_t tile = begin; tile < end; ++tile) {
    const Ranks of_tile = work.ranks[tile];
    work.ranks[tile] = sum;
    sum.larger += of_tile.larger;
    sum.equal += of_tile.equal;
  }
}

__global__ void __launch_bounds__(kThreads) emit(const Select work, const SparseWire out) {
  const std::size_t tile = tile_of_warp();
  if (tile >= work.tiles()) return;
  if (tile == 0 && threadIdx.x == 0) out.give_count();
  const std::uint32_t magnitude = work.found->magnitude;
  Ranks before = work.ranks[tile];
  for_each_line(work, tile, [&](const Candidate& candidate, bool there) {
    const LineVotes votes = votes_on(candidate, there, magnitude);
    std::uint32_t place = 0;
    if (place_of(work, threadIdx.x % kWarp, votes.larger, votes.equal, before, place))
      out.give(place, candidate.position, candidate.bits);
    before.larger += count_bits(votes.larger);
    before.equal += count_bits(votes.equal);
  });
}

template <unsigned kDigit>
void find_digit(const Queue& queue, const Select& work, std::uint32_t* counts) {
  const unsigned blocks = blocks_for<count_digits<kDigit>>(queue, (work.tiles() + kWarps - 1) / kWarps);
  start<count_digits<kDigit>>(queue, blocks, work, counts);
  start<choose_digit<kDigit>>(queue, 1, work, counts);
}

/// Parts of one piece of memory.
struct SelectMemory {
  Select work;
  std::uint32_t* counts;
};
SelectMemory lay_out(Workspace& workspace, std::span<const float> in, std::size_t wanted) {
  Select work{bytes_of(in), in.size(), static_cast<std::uint32_t>(wanted), slots_for(in.size(), wanted)};
  const std::size_t tiles = work.tiles();
  std::byte* at = workspace.of(sizeof(Found) + kMostBins * sizeof(std::uint32_t) +
                               tiles * (sizeof(Ranks) + work.slots * sizeof(Candidate) + sizeof(std::uint32_t)));
  const auto take = [&at]<class T>(T*& part, std::size_t count) {
    part = reinterpret_cast<T*>(at);
    at += count * sizeof(T);
  };
  std::uint32_t* counts = nullptr;
  take(work.found, 1);
  take(counts, kMostBins);
  take(work.ranks, tiles);
  take(work.lists, tiles * work.slots);
  take(work.reached, tiles);
  return {work, counts};
}

/// Encodes the `out.count` elements of the largest magnitude, as `select.cuh` says.
/// \pre 0 < out.count <= in.size() < 2^32 - 1. \throws Error (environment)
void select_largest(const Queue& queue, Workspace& workspace, std::span<const float> in, const SparseWire& out) {
  const SelectMemory memory = lay_out(workspace, in, out.count);
  const Select& work = memory.work;
  const auto blocks = static_cast<unsigned>((work.tiles() + kWarps - 1) / kWarps);
  // The counts follow.
  succeed(cudaMemsetAsync(work.found, 0, sizeof(Found) + kMostBins * sizeof(std::uint32_t), queue.stream),
          "clearing GPU memory");
  start<sample>(queue, kSampled / (4 * kThreads), work, memory.counts);
  start<guess>(queue, 1, work.found, memory.counts, sampled_rank(work.elements, work.wanted));
  start<collect>(queue, blocks, work);
  find_digit<0>(queue, work, memory.counts);
  find_digit<1>(queue, work, memory.counts);
  find_digit<2>(queue, work, memory.counts);
  start<count_ranks>(queue, blocks, work);
  start<add_up_ranks>(queue, 1, work);
  start<emit>(queue, blocks, work, out);
}

class TopKCodec final : public LaunchedCodec {
  using LaunchedCodec::LaunchedCodec;

  std::size_t wanted(std::size_t elements) const {
    const auto bytes = static_cast<std::size_t>(max_wire_bytes(static_cast<std::int64_t>(elements)));
    return (bytes - sizeof(std::uint32_t)) / (sizeof(std::uint32_t) + sizeof(float));
  }
  void launch_encode(const Queue& queue, std::span<const float> in, const Draw&,
                     std::span<std::byte> out) const override {
    const std::size_t count = wanted(in.size());
    if (count == 0) {
      succeed(cudaMemsetAsync(out.data(), 0, sizeof(std::uint32_t), queue.stream), "clearing GPU memory");
    } else {
      select_largest(queue, workspace(), in, {out.data(), count});
    }
  }
  void launch_decode(const Queue& queue, std::span<const std::byte> in, TransferKind kind,
                     std::span<float> out) const override {
    if (kind == TransferKind::copy)
      succeed(cudaMemsetAsync(out.data(), 0, out.size_bytes(), queue.stream), "clearing GPU memory");
    const std::size_t count = wanted(out.size());
    launch(queue, AddSparse{in.data(), count, bytes_of(out), out.size()}, {.elements = count});
  }
};

}  // namespace

extern constinit const CudaCodec kTopK{"topk", make_launched<TopKCodec>};

}  // namespace hbench::cuda
