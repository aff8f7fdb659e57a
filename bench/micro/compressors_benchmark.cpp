// What encoding and decoding cost, on one core, beside copying.
//
// `of_copy` is the ratio of bandwidths, in bytes read and written, to that of a memcpy of the same floats in the same
// run: encoding n floats into b bytes moves 4 n + b, copying them 8 n. Repeat with:
// compressors_benchmark --benchmark_min_time=2 [--benchmark_filter=int8]

#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <string>

#include "bench/micro/in_turn.hpp"
#include "collectives/compressors/compressor.hpp"

namespace hbench {
namespace {

/// 25 M floats are far larger than any cache; 64 Ki fit in the second.
constexpr std::int64_t kElements[] = {64 << 10, 25'000'000};

struct Buffers {
  explicit Buffers(const Codec& codec, std::int64_t elements)
      : floats(static_cast<std::size_t>(elements)),
        copy(floats.size()),
        wire(static_cast<std::size_t>(codec.max_wire_bytes(elements))) {
    // Box-Muller and its kin are slow: a table of normal numbers, read from changing places, will do.
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> table(1 << 16);
    for (float& x : table) x = normal(random);
    for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = table[(i * 7 + (i >> 16) * 31) & 0xffff];
  }

  void copy_floats() { std::memcpy(copy.data(), floats.data(), floats.size() * sizeof(float)); }

  std::vector<float> floats;
  std::vector<float> copy;
  std::vector<std::byte> wire;
};

void report(benchmark::State& state, const Alternation& times, std::int64_t elements, std::int64_t wire_bytes) {
  const auto floats = static_cast<double>(elements) * sizeof(float);
  const double rate = (floats + static_cast<double>(wire_bytes)) / times.work;
  state.counters["GB/s"] = rate / 1e9;
  state.counters["of_copy"] = rate / (2 * floats / times.reference);
  state.counters["bits"] = 8 * static_cast<double>(wire_bytes) / static_cast<double>(elements);
}

void encode(benchmark::State& state, const std::string& name) {
  const CompressorChoice choice = parse_compressor(name);
  const std::int64_t elements = state.range(0);
  Buffers buffers(*choice.codec, elements);
  std::int64_t bytes = 0;
  const auto work = [&] { bytes = choice.codec->encode(buffers.floats, {}, buffers.wire); };
  const Alternation times = alternate(state, work, [&] { buffers.copy_floats(); });
  report(state, times, elements, bytes);
}

void decode(benchmark::State& state, const std::string& name) {
  const CompressorChoice choice = parse_compressor(name);
  const std::int64_t elements = state.range(0);
  Buffers buffers(*choice.codec, elements);
  const std::int64_t bytes = choice.codec->encode(buffers.floats, {}, buffers.wire);
  const auto wire = std::span(buffers.wire).first(static_cast<std::size_t>(bytes));
  std::vector<float> out(buffers.floats.size());
  const auto work = [&] { choice.codec->decode(wire, TransferKind::copy, out); };
  report(state, alternate(state, work, [&] { buffers.copy_floats(); }), elements, bytes);
}

/// One step of error feedback, without encoding: what is added and kept.
void feed_back(benchmark::State& state, const std::string& name) {
  const CompressorChoice choice = parse_compressor(name);
  const std::int64_t elements = state.range(0);
  Buffers buffers(*choice.codec, elements);
  const std::int64_t bytes = choice.codec->encode(buffers.floats, {}, buffers.wire);
  const auto wire = std::span(buffers.wire).first(static_cast<std::size_t>(bytes));
  const auto memory = choice.make_memory(elements);
  const auto work = [&] {
    memory->compensate(buffers.floats);
    memory->update(buffers.floats, wire, *choice.codec);
  };
  const Alternation times = alternate(state, work, [&] { buffers.copy_floats(); });
  state.counters["of_copy_time"] = times.work / times.reference;
}

void add(const std::string& name, void (*run)(benchmark::State&, const std::string&), const std::string& compressor) {
  auto* added = benchmark::RegisterBenchmark((name + "/" + compressor).c_str(), run, compressor);
  for (const std::int64_t elements : kElements) added->Arg(elements);
  added->UseManualTime()->Unit(benchmark::kMicrosecond);
}

}  // namespace
}  // namespace hbench

int main(int argc, char** argv) {
  for (const hbench::Compressor* compressor : hbench::compressors()) {
    const std::string name(compressor->name);
    hbench::add("encode", hbench::encode, name);
    hbench::add("decode", hbench::decode, name);
  }
  for (const char* name : {"ef:topk", "ef:sign", "dgc"}) hbench::add("feed_back", hbench::feed_back, name);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
