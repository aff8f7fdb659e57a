#include "tests/collectives/cuda_twins.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "collectives/cuda/codecs.cuh"
#include "collectives/cuda/int4.cuh"
#include "collectives/cuda/minmax8.cuh"
#include "collectives/cuda/onebit.cuh"
#include "collectives/cuda/qsgd.cuh"
#include "collectives/cuda/randomk.cuh"
#include "collectives/cuda/sign.cuh"
#include "collectives/cuda/sparse.cuh"
#include "tests/collectives/cuda_compression.hpp"
#include "tests/collectives/cuda_host.hpp"
#include "tests/collectives/cuda_select_host.hpp"

namespace hbench::support {
namespace {

constexpr auto kRun = [](const auto& work, const cuda::Extent& extent) { run_on_host(work, extent, 3); };

template <class Format>
constexpr CodecTwin half(std::string_view name) {
  return {name,
          [](const CompressorChoice&, const std::byte* floats, std::size_t elements, std::byte* wire) {
            cuda::with_narrow<Format>(floats, wire, elements, kRun);
          },
          [](const CompressorChoice&, const std::byte* wire, bool add, std::byte* floats, std::size_t elements) {
            cuda::with_widen<Format>(wire, add, floats, elements, kRun);
          }};
}

void encode_int8(const CompressorChoice&, const std::byte* floats, std::size_t elements, std::byte* wire) {
  constexpr unsigned kLanes = cuda::EncodeInt8::kLanes;
  const cuda::EncodeInt8 work{floats, wire, elements};
  for (std::size_t block = 0; block < work.blocks(); ++block) {
    const bool wide = work.aligned() && work.whole(block);
    cuda::EncodeInt8::Taken taken[kLanes];
    std::uint32_t largest = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      taken[lane] = wide ? work.take<4>(block, lane) : work.take<1>(block, lane);
      largest = std::max(largest, cuda::EncodeInt8::magnitude(taken[lane]));
    }
    for (unsigned lane = 0; lane < kLanes; ++lane)
      wide ? work.give<4>(block, lane, taken[lane], largest) : work.give<1>(block, lane, taken[lane], largest);
  }
}

void decode_int8(const CompressorChoice&, const std::byte* wire, bool add, std::byte* floats, std::size_t elements) {
  cuda::with_decode_int8(wire, add, floats, elements, kRun);
}

void encode_int4(const CompressorChoice&, const std::byte* floats, std::size_t elements, std::byte* wire) {
  constexpr unsigned kLanes = cuda::EncodeInt4::kLanes;
  const cuda::EncodeInt4 work{{floats, elements}, wire};
  for (std::size_t block = 0; block < work.buckets(); ++block) {
    cuda::EncodeInt4::Taken taken[kLanes];
    std::uint32_t largest = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      taken[lane] = work.plain(block) ? work.take<true>(block, lane) : work.take<false>(block, lane);
      largest = std::max(largest, cuda::EncodeInt4::magnitude(taken[lane]));
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) work.give(block, lane, taken[lane], largest);
  }
}

void decode_int4(const CompressorChoice&, const std::byte* wire, bool add, std::byte* floats, std::size_t elements) {
  cuda::with_decode_levels(wire, cuda::EncodeInt4::kLevels, cuda::Int4Layout{elements}, add, floats, elements, kRun);
}

struct SignedPart {
  cuda::Signed<double> sums{};
  unsigned negatives = 0;
};

/// The 16 lanes that have one piece.
SignedPart encode_sign_piece(const cuda::EncodeSign& work, std::size_t piece) {
  constexpr unsigned kLanes = cuda::EncodeSign::kLanes;
  const cuda::EncodeSign::Part part = work.part(piece);
  cuda::Signed<float> sums[kLanes]{};
  SignedPart total;
  // One batch too many, as the shorter of two pieces of a warp may see.
  for (unsigned batch = 0; batch <= cuda::EncodeSign::batches(part); ++batch) {
    std::uint32_t votes[cuda::EncodeSign::kRows]{};
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const cuda::EncodeSign::Taken taken = work.take(part, batch, lane);
      cuda::EncodeSign::add(taken, sums[lane]);
      for (unsigned i = 0; i < cuda::EncodeSign::kRows; ++i)
        votes[i] |= (cuda::EncodeSign::minus(taken.at[i]) ? 1u : 0u) << lane;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) work.give(part, batch, lane, votes[lane]);
    for (const std::uint32_t row : votes) total.negatives += cuda::count_bits(row);
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const cuda::Signed<double> wide = work.wide(part, lane, sums[lane]);
    total.sums.positive += wide.positive;
    total.sums.negative += wide.negative;
  }
  return total;
}

void encode_sign(const CompressorChoice&, const std::byte* floats, std::size_t elements, std::byte* wire) {
  if (elements == 0) return;
  const cuda::EncodeSign work{floats, wire + 4, elements};
  std::vector<cuda::Signed<double>> pieces;
  for (std::size_t piece = 0; piece < work.pieces(); ++piece) pieces.push_back(encode_sign_piece(work, piece).sums);
  encode_sign_piece(work, pieces.size());  // what the last warp has beside the last piece
  std::vector<cuda::Signed<double>> adders;
  for (unsigned thread = 0; thread < sign_sums::kAdders; ++thread)
    adders.push_back(cuda::add_pieces(pieces.data(), pieces.size(), thread));
  for (unsigned half = sign_sums::kAdders / 2; half > 0; half /= 2)
    for (unsigned thread = 0; thread < half; ++thread) {
      adders[thread].positive += adders[thread + half].positive;
      adders[thread].negative += adders[thread + half].negative;
    }
  cuda::store_one(wire, cuda::sign_scale(adders[0], elements));
}

void decode_sign(const CompressorChoice&, const std::byte* wire, bool add, std::byte* floats, std::size_t elements) {
  cuda::with_decode_sign(wire, add, floats, elements, kRun);
}

void encode_onebit(const CompressorChoice&, const std::byte* floats, std::size_t elements, std::byte* wire) {
  const cuda::EncodeOneBit work{floats, wire, elements};
  for (std::size_t block = 0; block < work.blocks(); ++block) {
    SignedPart sum;
    for (unsigned part = 0; part < cuda::EncodeOneBit::kParts; ++part) {
      const SignedPart found = encode_sign_piece(work.block(block), part);
      sum.sums.positive += found.sums.positive;
      sum.sums.negative += found.sums.negative;
      sum.negatives += found.negatives;
    }
    work.give(block, sum.sums, sum.negatives);
  }
  encode_sign_piece(work.block(work.blocks()), 0);  // what the last warp has beside the last block
}

void decode_onebit(const CompressorChoice&, const std::byte* wire, bool add, std::byte* floats, std::size_t elements) {
  cuda::with_decode_onebit(wire, add, floats, elements, kRun);
}

void encode_minmax8(const CompressorChoice&, const std::byte* floats, std::size_t elements, std::byte* wire) {
  constexpr std::size_t kBlocks = 3;
  const cuda::Extent extent = cuda::outermost_extent(floats, elements);
  cuda::Outermost all;
  for (std::size_t block = 0; block < kBlocks; ++block)
    for (unsigned thread = 0; thread < cuda::kThreads; ++thread) {
      cuda::Outermost mine;
      cuda::walk(cuda::FindOutermost{floats, &mine}, extent, {block, kBlocks, thread});
      all = {std::max(all.most, mine.most), std::max(all.least, mine.least)};
    }
  cuda::with_encode_minmax8(floats, &all, wire, elements, kRun);
}

void decode_minmax8(const CompressorChoice&, const std::byte* wire, bool add, std::byte* floats, std::size_t elements) {
  cuda::with_decode_minmax8(wire, add, floats, elements, kRun);
}

int levels_of(const CompressorChoice& choice) { return std::stoi(choice.parameters); }

void encode_qsgd(const CompressorChoice& choice, const std::byte* floats, std::size_t elements, std::byte* wire) {
  const auto encode = [&]<class Work>(const Work& work) {
    for (std::size_t bucket = 0; bucket < work.buckets(); ++bucket) {
      const bool plain = work.plain(bucket);
      typename Work::Taken taken[Work::kLanes];
      std::uint32_t largest = 0;
      for (unsigned lane = 0; lane < Work::kLanes; ++lane) {
        taken[lane] = plain ? work.template take<true>(bucket, lane) : work.template take<false>(bucket, lane);
        largest = std::max(largest, Work::magnitude(taken[lane]));
      }
      for (unsigned lane = 0; lane < Work::kLanes; ++lane) {
        if (plain) {
          work.template give<true>(bucket, lane, taken[lane], largest);
        } else {
          work.template give<false>(bucket, lane, taken[lane], largest);
        }
      }
    }
  };
  cuda::with_encode_qsgd(floats, wire, elements, levels_of(choice), key_of(kDraw), encode);
}

void decode_qsgd(const CompressorChoice& choice, const std::byte* wire, bool add, std::byte* floats,
                 std::size_t elements) {
  cuda::with_decode_qsgd(wire, levels_of(choice), add, floats, elements, kRun);
}

std::size_t sparse_count(const CompressorChoice& choice, std::size_t elements) {
  return static_cast<std::size_t>(choice.codec->max_wire_bytes(static_cast<std::int64_t>(elements)) - 4) / 8;
}

void encode_topk(const CompressorChoice& choice, const std::byte* floats, std::size_t elements, std::byte* wire) {
  const std::size_t count = sparse_count(choice, elements);
  if (count == 0) {
    cuda::SparseWire{wire, 0}.give_count();
  } else {
    select_on_host(floats, elements, count, wire);
  }
}

void decode_topk(const CompressorChoice& choice, const std::byte* wire, bool add, std::byte* floats,
                 std::size_t elements) {
  if (!add) std::fill_n(floats, 4 * elements, std::byte{});
  const std::size_t count = sparse_count(choice, elements);
  kRun(cuda::AddSparse{wire, count, floats, elements}, {.elements = count});
}

cuda::RandomSample sample_of(const CompressorChoice& choice, std::size_t elements) {
  const auto bytes = static_cast<std::size_t>(choice.codec->max_wire_bytes(static_cast<std::int64_t>(elements)));
  return {elements, (bytes - 8) / 4};
}

void encode_randomk(const CompressorChoice& choice, const std::byte* floats, std::size_t elements, std::byte* wire) {
  if (elements == 0) return;
  const cuda::RandomSample sample = sample_of(choice, elements);
  kRun(cuda::EncodeRandomK{floats, wire, sample, cuda::randomk_key(kDraw)}, {.elements = sample.count});
}

void decode_randomk(const CompressorChoice& choice, const std::byte* wire, bool add, std::byte* floats,
                    std::size_t elements) {
  if (elements == 0) return;
  if (!add) std::fill_n(floats, 4 * elements, std::byte{});
  const cuda::RandomSample sample = sample_of(choice, elements);
  kRun(cuda::AddRandomK{wire, floats, sample}, {.elements = sample.count});
}

constexpr CodecTwin kTwins[] = {
    half<cuda::Float16>("fp16"),
    half<cuda::Bfloat16>("bf16"),
    {"int4", encode_int4, decode_int4},
    {"int8", encode_int8, decode_int8},
    {"minmax8", encode_minmax8, decode_minmax8},
    {"onebit", encode_onebit, decode_onebit},
    {"qsgd", encode_qsgd, decode_qsgd},
    {"randomk", encode_randomk, decode_randomk},
    {"sign", encode_sign, decode_sign},
    {"topk", encode_topk, decode_topk},
};

}  // namespace

const CodecTwin& twin_of(std::string_view compressor) {
  for (const CodecTwin& twin : kTwins)
    if (twin.compressor == compressor) return twin;
  throw std::invalid_argument("no kernels on the host for this compressor");
}

}  // namespace hbench::support
