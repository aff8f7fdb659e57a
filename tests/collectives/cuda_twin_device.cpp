#include "tests/collectives/cuda_twin_device.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "collectives/compressors/compressor.hpp"
#include "collectives/cuda/codecs.cuh"
#include "collectives/cuda/int4.cuh"
#include "collectives/cuda/low_rank.cuh"
#include "collectives/cuda/minmax8.cuh"
#include "collectives/cuda/onebit.cuh"
#include "collectives/cuda/pack.cuh"
#include "collectives/cuda/qsgd.cuh"
#include "collectives/cuda/randomk.cuh"
#include "collectives/cuda/reductions.cuh"
#include "collectives/cuda/select.cuh"
#include "collectives/cuda/sign.cuh"
#include "tests/collectives/cuda_select_host.hpp"

namespace hbench::support {
namespace {

/// The kernels of one compressor.
struct CodecTwin {
  std::string_view compressor;
  void (*encode)(const CompressorChoice& choice, const std::byte* floats, std::size_t elements, const Draw& draw,
                 std::byte* wire);
  void (*decode)(const CompressorChoice& choice, const std::byte* wire, bool add, std::byte* floats,
                 std::size_t elements);
};

constexpr auto kRun = [](const auto& work, const cuda::Extent& extent) { run_on_host(work, extent, 3); };

template <class Format>
constexpr CodecTwin half(std::string_view name) {
  return {name,
          [](const CompressorChoice&, const std::byte* floats, std::size_t elements, const Draw&, std::byte* wire) {
            cuda::with_narrow<Format>(floats, wire, elements, kRun);
          },
          [](const CompressorChoice&, const std::byte* wire, bool add, std::byte* floats, std::size_t elements) {
            cuda::with_widen<Format>(wire, add, floats, elements, kRun);
          }};
}

void encode_int8(const CompressorChoice&, const std::byte* floats, std::size_t elements, const Draw&, std::byte* wire) {
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

void encode_int4(const CompressorChoice&, const std::byte* floats, std::size_t elements, const Draw&, std::byte* wire) {
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

void encode_sign(const CompressorChoice&, const std::byte* floats, std::size_t elements, const Draw&, std::byte* wire) {
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

void encode_onebit(const CompressorChoice&, const std::byte* floats, std::size_t elements, const Draw&,
                   std::byte* wire) {
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

void encode_minmax8(const CompressorChoice&, const std::byte* floats, std::size_t elements, const Draw&,
                    std::byte* wire) {
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

void encode_qsgd(const CompressorChoice& choice, const std::byte* floats, std::size_t elements, const Draw& draw,
                 std::byte* wire) {
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
  cuda::with_encode_qsgd(floats, wire, elements, levels_of(choice), key_of(draw), encode);
}

void decode_qsgd(const CompressorChoice& choice, const std::byte* wire, bool add, std::byte* floats,
                 std::size_t elements) {
  cuda::with_decode_qsgd(wire, levels_of(choice), add, floats, elements, kRun);
}

std::size_t sparse_count(const CompressorChoice& choice, std::size_t elements) {
  return static_cast<std::size_t>(choice.codec->max_wire_bytes(static_cast<std::int64_t>(elements)) - 4) / 8;
}

void encode_topk(const CompressorChoice& choice, const std::byte* floats, std::size_t elements, const Draw&,
                 std::byte* wire) {
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

void encode_randomk(const CompressorChoice& choice, const std::byte* floats, std::size_t elements, const Draw& draw,
                    std::byte* wire) {
  if (elements == 0) return;
  const cuda::RandomSample sample = sample_of(choice, elements);
  kRun(cuda::EncodeRandomK{floats, wire, sample, cuda::randomk_key(draw)}, {.elements = sample.count});
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

class TwinCodec final : public Codec {
 public:
  explicit TwinCodec(const CompressorChoice& choice)
      : choice_(choice), twin_(*std::ranges::find(kTwins, choice.compressor->name, &CodecTwin::compressor)) {}
  std::int64_t max_wire_bytes(std::int64_t elements) const override { return choice_.codec->max_wire_bytes(elements); }
  std::int64_t encode(std::span<const float> in, const Draw& draw, std::span<std::byte> out) const override {
    twin_.encode(choice_, std::as_bytes(in).data(), in.size(), draw, out.data());
    return max_wire_bytes(std::ssize(in));
  }
  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    twin_.decode(choice_, in.data(), kind == TransferKind::reduce, std::as_writable_bytes(out).data(), out.size());
  }

 private:
  CompressorChoice choice_;
  const CodecTwin& twin_;
};

class TwinPacking final : public Packing {
 public:
  explicit TwinPacking(std::span<const std::span<std::byte>> parts) : pieces_(cuda::pieces_of(parts)) {}
  void pack(std::span<std::byte> to) override {
    for_each_thread([&](const cuda::Piece& piece, unsigned thread) {
      cuda::copy_piece(piece.tensor, to.data() + piece.offset, piece.bytes, thread);
    });
  }
  void unpack(std::span<const std::byte> from) override {
    for_each_thread([&](const cuda::Piece& piece, unsigned thread) {
      cuda::copy_piece(from.data() + piece.offset, piece.tensor, piece.bytes, thread);
    });
  }

 private:
  template <class Visit>
  void for_each_thread(Visit visit) const {
    for (const cuda::Piece& piece : pieces_)
      for (unsigned thread = 0; thread < cuda::kThreads; ++thread) visit(piece, thread);
  }

  std::vector<cuda::Piece> pieces_;
};

/// Columns of the matrix as a grid has them: whole blocks of threads.
std::size_t grid_columns(const cuda::MatrixShape& shape) {
  return (shape.columns + cuda::kThreads - 1) / cuda::kThreads * cuda::kThreads;
}

class TwinProducts final : public LowRankProducts {
 public:
  void renew_lost_columns(const LowRankShape& shape, const Draw& draw, std::span<float> right) override {
    const auto length = static_cast<std::size_t>(shape.columns);
    for (std::size_t begin = 0; begin < right.size(); begin += length) {
      float* const column = right.data() + begin;
      const cuda::Random numbers(shared_key_of(draw), begin);
      if (!cuda::lost(cuda::dot_part(column, column, length, 0, 1))) continue;
      for (std::size_t i = 0; i < length; ++i) column[i] = cuda::renewed(numbers.bits(i));
    }
  }

  void multiply(const LowRankShape& shape, std::span<const float> matrix, std::span<const float> right,
                std::span<float> left) override {
    cuda::Multiply work{cuda::matrix_shape(shape), matrix.data(), right.data(), left.data(), 0};
    for (; work.first < work.shape.rank; work.first += cuda::kFactorColumns)
      for (std::size_t block = 0; block < work.blocks(); ++block) multiply(work, block);
  }

  void multiply_transposed(const LowRankShape& shape, std::span<const float> matrix, std::span<const float> left,
                           std::span<float> right) override {
    cuda::MultiplyTransposed work{cuda::matrix_shape(shape), matrix.data(), left.data(), nullptr, 0};
    std::vector<float> slabs(work.shape.slabs() * right.size(), -1e30F);
    work.slabs = slabs.data();
    for (; work.first < work.shape.rank; work.first += cuda::kFactorColumns)
      for (std::size_t slab = 0; slab < work.shape.slabs(); ++slab)
        for (std::size_t column = 0; column < grid_columns(work.shape); ++column) work.run(slab, column);
    for (std::size_t at = 0; at < grid_columns(work.shape) * work.shape.rank; ++at)
      cuda::add_slabs(work.shape, slabs.data(), at, right.data());
  }

  void expand(const LowRankShape& shape, std::span<const float> left, std::span<const float> right,
              std::span<float> matrix) override {
    const cuda::Expand work{cuda::matrix_shape(shape), left.data(), right.data(), matrix.data()};
    for (std::size_t block = 0; block * cuda::kBlockRows < work.shape.rows; ++block)
      for (std::size_t column = 0; column < grid_columns(work.shape); ++column) work.run(block, column);
  }

  /// One block.
  void orthonormalise(std::int64_t rows, std::span<float> columns) override {
    const auto length = static_cast<std::size_t>(rows);
    const auto dot = [&](const float* a, const float* b) {
      constexpr unsigned kMany = 1024;
      double sum = 0;
      for (unsigned thread = 0; thread < kMany; ++thread) sum += cuda::dot_part(a, b, length, thread, kMany);
      return sum;
    };
    for (std::size_t k = 0; k < columns.size() / length; ++k) {
      float* const column = columns.data() + k * length;
      const double before = std::sqrt(dot(column, column));
      for (std::size_t j = 0; j < 2 * k; ++j) {
        const float* const other = columns.data() + j % k * length;
        const auto factor = static_cast<float>(-dot(other, column));
        for (std::size_t i = 0; i < length; ++i) column[i] += factor * other[i];
      }
      const double scale = cuda::stretch(before, std::sqrt(dot(column, column)));
      for (std::size_t i = 0; i < length; ++i) column[i] = static_cast<float>(column[i] * scale);
    }
  }

 private:
  /// Threads' sums are added as those of a warp are, and those of warps one after the other.
  static void multiply(const cuda::Multiply& work, std::size_t block) {
    constexpr unsigned kWarp = 32;
    std::array<cuda::Multiply::Sums, cuda::kThreads> of_thread{};
    for (unsigned thread = 0; thread < cuda::kThreads; ++thread)
      work.whole(block) ? work.add<true>(block, thread, of_thread[thread])
                        : work.add<false>(block, thread, of_thread[thread]);
    for (unsigned i = 0; i < cuda::kBlockRows; ++i)
      for (unsigned k = 0; k < cuda::kFactorColumns; ++k) {
        for (unsigned distance = kWarp / 2; distance > 0; distance /= 2)
          for (unsigned thread = 0; thread < cuda::kThreads; ++thread)
            if (thread % kWarp < distance) of_thread[thread].at[i][k] += of_thread[thread + distance].at[i][k];
        float sum = 0;
        for (unsigned warp = 0; warp < cuda::kThreads; warp += kWarp) sum += of_thread[warp].at[i][k];
        work.give(block, i, k, sum);
      }
  }
};

class TwinDevice final : public Device {
 public:
  DeviceMemory allocate(std::size_t bytes) override {
    return {static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 256) / 256 * 256)), std::free};
  }
  void accumulate(DataType type, ReduceOp op, std::span<const std::byte> in, std::span<std::byte> inout) override {
    cuda::with_accumulate(type, op, in.data(), inout.data(), inout.size(), kRun);
  }
  void fill_neutral(DataType type, ReduceOp op, std::span<std::byte> buffer) override {
    cuda::with_fill_neutral(type, op, buffer.data(), buffer.size(), kRun);
  }
  void finish(DataType type, ReduceOp op, int workers, std::span<std::byte> buffer) override {
    cuda::with_finish(type, op, workers, buffer.data(), buffer.size(), kRun);
  }
  void keep_rest(std::span<const float> whole, std::span<float> part) override {
    cuda::with_keep_rest(std::as_bytes(whole).data(), std::as_writable_bytes(part).data(), part.size_bytes(), kRun);
  }
  void change(const NumbersChange& by, std::span<float> numbers) override { cuda::with_change(by, numbers, kRun); }
  std::shared_ptr<const Codec> codec_of(const CompressorChoice& choice) override {
    return std::make_shared<TwinCodec>(choice);
  }
  std::unique_ptr<LowRankProducts> low_rank_products() override { return std::make_unique<TwinProducts>(); }
  std::unique_ptr<Packing> packing(std::span<const std::span<std::byte>> parts) override {
    return std::make_unique<TwinPacking>(parts);
  }
  void copy(std::span<const std::byte> from, std::span<std::byte> to) override {
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
  }
  void write(std::span<const std::byte> host, std::span<std::byte> to) override { copy(host, to); }
  void read(std::span<const std::byte> from, std::span<std::byte> host) override { copy(from, host); }
  Event record_event() override { return nullptr; }
  Event record_timed_event() override { return nullptr; }
  Seconds elapsed(const Event&, const Event&) override { return {}; }
  void wait(const Event&) override {}
  bool query(const Event&) override { return true; }
};

}  // namespace

std::unique_ptr<Device> make_twin_device() { return std::make_unique<TwinDevice>(); }

}  // namespace hbench::support
