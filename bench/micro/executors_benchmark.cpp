// What executors cost: the ring between two ranks by size, and halves against a plain copy.
//
// Between processes: mpirun -n 2 executors_benchmark --benchmark_filter=mpi

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>
#include <memory>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/table.hpp"
#include "collectives/compressors/half.hpp"
#include "collectives/executors/endpoint.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRanks = 2;
/// A repeat count that all ranks of an MPI job share: each decides by its own clock otherwise, and they hang.
constexpr int kIterations = 30;

/// `ranks` buffers, one per local rank.
std::vector<std::vector<float>> make_buffers(std::size_t local_ranks, std::int64_t bytes) {
  return std::vector(local_ranks, std::vector<float>(static_cast<std::size_t>(bytes) / sizeof(float), 1e-30F));
}

void all_reduce(benchmark::State& state, std::string_view kind, const char* algorithm_name, const char* compressor) {
  const ExecutorKind& found = find_entry(executors(), kind, "executor");
  const std::unique_ptr<Executor> executor = found.make(nullptr, Seconds(60));
  const Algorithm& algorithm = find_entry(algorithms(), algorithm_name, "algorithm");
  const Schedule schedule = algorithm.opaque() ? Schedule{} : algorithm.build({.world = {.workers = kRanks}});
  auto buffers = make_buffers(kind == "threads" ? kRanks : 1, state.range(0));
  const CompressorChoice choice = parse_compressor(compressor);
  Collective collective{algorithm.opaque() ? nullptr : &schedule, choice.encoding(), std::ssize(buffers.front()), {}};
  for (auto& buffer : buffers) collective.operands.push_back(Operand::of(buffer));
  executor->run(collective);
  for (auto _ : state) state.SetIterationTime(executor->run(collective).slowest().value);
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  // 46 MB is the gradient of ResNet-18; the others span what fusion makes of it.
  benchmark->Arg(4 << 10)->Arg(256 << 10)->Arg(4 << 20)->Arg(46'000'000);
  benchmark->UseManualTime()->Iterations(kIterations)->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(all_reduce, threads_ring, "threads", "ring", "none")->Apply(sizes);
BENCHMARK_CAPTURE(all_reduce, threads_ring_fp16, "threads", "ring", "fp16")->Apply(sizes);
BENCHMARK_CAPTURE(all_reduce, mpi_ring, "mpi", "ring", "none")->Apply(sizes);
BENCHMARK_CAPTURE(all_reduce, mpi_ring_fp16, "mpi", "ring", "fp16")->Apply(sizes);
BENCHMARK_CAPTURE(all_reduce, mpi_vendor, "mpi", "vendor", "none")->Apply(sizes);

enum class Direction { encode, decode };

/// Converts and copies in turn, so that both see the same machine; `of_memcpy` is their ratio in bytes of float32
/// per second.
void halves(benchmark::State& state, const HalfConversion* conversion, Direction direction) {
  if (conversion == nullptr) {
    state.SkipWithError("this processor has no F16C");
    return;
  }
  std::vector<float> floats(static_cast<std::size_t>(state.range(0)) / sizeof(float), 1.5F);
  std::vector<float> copy(floats.size());
  std::vector<std::byte> packed(2 * floats.size());
  std::chrono::duration<double> converting{0};
  std::chrono::duration<double> copying{0};
  for (auto _ : state) {
    const auto begin = Clock::now();
    if (direction == Direction::encode) {
      conversion->narrow(floats, packed);
    } else {
      conversion->widen(packed, floats);
    }
    const auto middle = Clock::now();
    benchmark::ClobberMemory();
    std::memcpy(copy.data(), floats.data(), copy.size() * sizeof(float));
    benchmark::ClobberMemory();
    const auto end = Clock::now();
    converting += middle - begin;
    copying += end - middle;
    state.SetIterationTime(std::chrono::duration<double>(middle - begin).count());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
  state.counters["of_memcpy"] = copying / converting;
}

void memory_sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(256 << 10)->Arg(46'000'000)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(halves, encode, fast_halves(), Direction::encode)->Apply(memory_sizes);
BENCHMARK_CAPTURE(halves, decode, fast_halves(), Direction::decode)->Apply(memory_sizes);
BENCHMARK_CAPTURE(halves, encode_portable, &kPortableHalves, Direction::encode)->Apply(memory_sizes);
BENCHMARK_CAPTURE(halves, decode_portable, &kPortableHalves, Direction::decode)->Apply(memory_sizes);

}  // namespace
}  // namespace hbench

int main(int argc, char** argv) {
  // One session for the whole run: MPI cannot be begun twice.
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  std::unique_ptr<hbench::Endpoint> mpi;
  if (hbench::mpi_availability().available) mpi = hbench::make_mpi_endpoint();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
