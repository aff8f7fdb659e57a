// What kernels cost on a GPU, beside copying.
//
// `of_copy` is the ratio of bandwidths, in bytes read and written, to that of a device-to-device copy of the same
// buffer in the same run; both take turns. Repeat with: cuda_benchmark [--benchmark_filter=encode]

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench/micro/in_turn.hpp"
#include "collectives/base/error.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/cuda/codecs.hpp"
#include "collectives/cuda/cuda.hpp"

namespace hbench {
namespace {

/// 256 MiB: several times any second-level cache.
constexpr std::size_t kBytes = std::size_t{256} << 20;
constexpr std::size_t kElements = kBytes / sizeof(float);
/// Launches in a row for one sample: queued, so that their launching costs nothing.
constexpr int kRow = 10;
constexpr int kSamples = 30;

/// A buffer of kBytes on the GPU; the first two have content, of which a sample begins with a fresh copy.
struct Buffers {
  Buffers() {
    for (DeviceMemory* memory : {&origin, &other, &work}) *memory = device->allocate(kBytes);
    // Normal numbers from a table that is read from changing places; never zeros, which would be faster.
    std::mt19937 random(std::random_device{}());
    std::normal_distribution<float> normal;
    std::vector<float> table(1 << 16);
    for (float& x : table) x = normal(random);
    std::vector<float> values(kElements);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = table[(i * 7 + (i >> 16) * 31) & 0xffff];
    device->write(std::as_bytes(std::span(values)), span(origin));
    std::ranges::reverse(values);
    device->write(std::as_bytes(std::span(values)), span(other));
  }

  static std::span<std::byte> span(const DeviceMemory& memory) { return {memory.get(), kBytes}; }
  static std::span<float> floats(const DeviceMemory& memory) {
    return {reinterpret_cast<float*>(memory.get()), kElements};
  }

  std::unique_ptr<Device> device = make_cuda_device(0);
  DeviceMemory origin;
  DeviceMemory other;
  DeviceMemory work;
};

Buffers& buffers() {
  static Buffers made;
  return made;
}

/// Seconds of one of a row of launches.
/// `moved`: bytes that one `work` reads and writes. The copy that it is compared with brings back what it worked on.
template <class Work>
void compare(benchmark::State& state, double moved, std::size_t copied, Work work) {
  Buffers& b = buffers();
  const auto copy = [&] { b.device->copy(Buffers::span(b.origin).first(copied), Buffers::span(b.work).first(copied)); };
  timed(*b.device, kRow, copy);
  timed(*b.device, kRow, work);
  std::vector<double> of_work;
  std::vector<double> of_copy;
  for (auto _ : state) {
    of_copy.push_back(timed(*b.device, kRow, copy));
    of_work.push_back(timed(*b.device, kRow, work));
    state.SetIterationTime(of_work.back());
  }
  const double rate = moved / median(of_work);
  state.counters["GB/s"] = rate / 1e9;
  state.counters["of_copy"] = rate / (2 * static_cast<double>(copied) / median(of_copy));
}

void copy(benchmark::State& state) {
  Buffers& b = buffers();
  compare(state, 2.0 * kBytes, kBytes, [&] { b.device->copy(Buffers::span(b.origin), Buffers::span(b.work)); });
}

void accumulate(benchmark::State& state, DataType type, ReduceOp op) {
  Buffers& b = buffers();
  compare(state, 3.0 * kBytes, kBytes,
          [&] { b.device->accumulate(type, op, Buffers::span(b.other), Buffers::span(b.work)); });
}

/// For its lifetime, the buffer that samples begin with holds ordinary halves: the halves of floats have any exponent.
class HalvesInside {
 public:
  explicit HalvesInside(const char* codec) {
    Buffers& b = buffers();
    floats_ = b.device->allocate(kBytes);
    b.device->copy(Buffers::span(b.origin), Buffers::span(floats_));
    const std::span<std::byte> halves = Buffers::span(b.other).first(kBytes / 2);
    codec_ = find_cuda_codec(codec)->make(*b.device, parse_compressor(codec));
    codec_->encode(Buffers::floats(b.origin), {}, halves);
    for (const std::size_t half : {0, 1})
      b.device->copy(halves, Buffers::span(b.origin).subspan(half * kBytes / 2, kBytes / 2));
  }
  ~HalvesInside() { buffers().device->copy(Buffers::span(floats_), Buffers::span(buffers().origin)); }
  HalvesInside(const HalvesInside&) = delete;
  HalvesInside& operator=(const HalvesInside&) = delete;

 private:
  DeviceMemory floats_;
  std::shared_ptr<const Codec> codec_;
};

void finish(benchmark::State& state, DataType type) {
  Buffers& b = buffers();
  std::optional<HalvesInside> halves;
  if (type == DataType::float16) halves.emplace("fp16");
  if (type == DataType::bfloat16) halves.emplace("bf16");
  compare(state, 2.0 * kBytes, kBytes, [&] { b.device->finish(type, ReduceOp::average, 2, Buffers::span(b.work)); });
}

void fill_neutral(benchmark::State& state) {
  Buffers& b = buffers();
  compare(state, kBytes, kBytes,
          [&] { b.device->fill_neutral(DataType::float32, ReduceOp::min, Buffers::span(b.work)); });
}

void encode(benchmark::State& state, const CudaCodec& entry, std::int64_t wire_bytes) {
  Buffers& b = buffers();
  const auto codec = entry.make(*b.device, parse_compressor(entry.name));
  const std::span<std::byte> wire(b.other.get(), static_cast<std::size_t>(wire_bytes));
  compare(state, static_cast<double>(kBytes) + static_cast<double>(wire_bytes), kBytes,
          [&] { codec->encode(Buffers::floats(b.work), {}, wire); });
}

void decode(benchmark::State& state, const CudaCodec& entry, std::int64_t wire_bytes, TransferKind kind) {
  Buffers& b = buffers();
  const auto codec = entry.make(*b.device, parse_compressor(entry.name));
  const std::span<std::byte> wire(b.other.get(), static_cast<std::size_t>(wire_bytes));
  codec->encode(Buffers::floats(b.origin), {}, wire);
  const double floats = (kind == TransferKind::reduce ? 2.0 : 1.0) * kBytes;
  compare(state, floats + static_cast<double>(wire_bytes), kBytes,
          [&] { codec->decode(wire, kind, Buffers::floats(b.work)); });
}

/// PowerSGD of rank 4 on a square matrix. What is read and written beside the matrix is a thousandth of it.
template <class Work>
void low_rank(benchmark::State& state, double moved, Work work) {
  Buffers& b = buffers();
  const LowRankShape shape = low_rank_shape(kElements, 4);
  const auto products = make_cuda_low_rank_products(*b.device);
  const std::span left = Buffers::floats(b.other).first(static_cast<std::size_t>(shape.left_elements()));
  const std::span right =
      Buffers::floats(b.other).subspan(left.size(), static_cast<std::size_t>(shape.right_elements()));
  compare(state, moved, kBytes, [&] { work(*products, shape, Buffers::floats(b.work), left, right); });
}

/// The shapes of ResNet-50's 161 tensors (He et al., 2016): four groups of blocks of three convolutions, each followed
/// by a scale and a bias, the first of a group with a projection.
std::vector<std::size_t> resnet50() {
  std::vector<std::size_t> elements;
  const auto layer = [&](std::size_t in, std::size_t out, std::size_t width) {
    elements.insert(elements.end(), {in * out * width * width, out, out});
  };
  layer(3, 64, 7);
  std::size_t in = 64;
  constexpr std::size_t kBlocks[] = {3, 4, 6, 3};
  for (std::size_t group = 0; group < 4; ++group) {
    const std::size_t middle = 64u << group;
    for (std::size_t block = 0; block < kBlocks[group]; ++block) {
      layer(in, middle, 1);
      layer(middle, middle, 3);
      layer(middle, 4 * middle, 1);
      if (block == 0) layer(in, 4 * middle, 1);
      in = 4 * middle;
    }
  }
  elements.insert(elements.end(), {2048 * 1000, 1000});
  return elements;
}

/// Tensors of two models, which are more than any second-level cache holds, as a framework allocates them: each begins
/// at a multiple of 512 bytes.
void pack(benchmark::State& state, bool back) {
  Buffers& b = buffers();
  std::vector<std::span<std::byte>> tensors;
  std::size_t at = 0;
  const std::vector<std::size_t> model = resnet50();
  for (std::size_t i = 0; i < 2 * model.size(); ++i) {
    const std::size_t elements = model[i % model.size()];
    tensors.emplace_back(b.work.get() + at, elements * sizeof(float));
    at += (tensors.back().size() + 511) / 512 * 512;
  }
  if (tensors.size() != 322 || at > kBytes) return state.SkipWithError("these are not ResNet-50's tensors");
  const std::unique_ptr<Packing> packing = b.device->packing(tensors);
  std::size_t bytes = 0;
  for (const std::span<std::byte> tensor : tensors) bytes += tensor.size();
  const std::span<std::byte> packed(b.other.get(), bytes);
  compare(state, 2.0 * static_cast<double>(bytes), bytes,
          [&] { back ? packing->unpack(packed) : packing->pack(packed); });
}

template <class Run>
void add(const std::string& name, Run run) {
  benchmark::RegisterBenchmark(name.c_str(), run)->Iterations(kSamples)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

using Floats = std::span<float>;

void add_low_rank() {
  add("powersgd/multiply", [](benchmark::State& state) {
    low_rank(state, kBytes,
             [](LowRankProducts& products, const LowRankShape& shape, Floats matrix, Floats left, Floats right) {
               products.multiply(shape, matrix, right, left);
             });
  });
  add("powersgd/multiply_transposed", [](benchmark::State& state) {
    low_rank(state, kBytes,
             [](LowRankProducts& products, const LowRankShape& shape, Floats matrix, Floats left, Floats right) {
               products.multiply_transposed(shape, matrix, left, right);
             });
  });
  add("powersgd/expand", [](benchmark::State& state) {
    low_rank(state, kBytes,
             [](LowRankProducts& products, const LowRankShape& shape, Floats matrix, Floats left, Floats right) {
               products.expand(shape, left, right, matrix);
             });
  });
  add("powersgd/orthonormalise", [](benchmark::State& state) {
    low_rank(state, 0, [](LowRankProducts& products, const LowRankShape& shape, Floats, Floats left, Floats) {
      products.orthonormalise(shape.rows, left);
    });
  });
}

void add_all() {
  add("copy", copy);
  add("pack/resnet50", [](benchmark::State& state) { pack(state, false); });
  add("unpack/resnet50", [](benchmark::State& state) { pack(state, true); });
  for (const DataTypeEntry* type : data_types())
    for (const ReduceOpEntry* op : reduce_ops()) {
      if (op->op == ReduceOp::average) continue;  // combines as `sum` does
      add("accumulate/" + std::string(type->name) + "/" + std::string(op->name),
          [type = type->type, op = op->op](benchmark::State& state) { accumulate(state, type, op); });
    }
  for (const DataTypeEntry* type : data_types())
    add("finish/" + std::string(type->name), [type = type->type](benchmark::State& state) { finish(state, type); });
  add("fill_neutral/float32", fill_neutral);
  for (const CudaCodec* codec : cuda_codecs()) {
    const std::string name(codec->name);
    const std::int64_t wire = parse_compressor(name).codec->max_wire_bytes(kElements);
    add("encode/" + name, [codec, wire](benchmark::State& state) { encode(state, *codec, wire); });
    add("decode/" + name, [codec, wire](benchmark::State& state) { decode(state, *codec, wire, TransferKind::copy); });
    add("decode_and_add/" + name,
        [codec, wire](benchmark::State& state) { decode(state, *codec, wire, TransferKind::reduce); });
  }
  add_low_rank();
}

}  // namespace
}  // namespace hbench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  try {
    hbench::add_all();
    hbench::buffers();
    benchmark::RunSpecifiedBenchmarks();
  } catch (const hbench::Error& error) {
    std::fprintf(stderr, "cuda_benchmark: %s\n  %s\n", error.what(), error.hint().c_str());
    return static_cast<int>(error.code());
  }
  return 0;
}
