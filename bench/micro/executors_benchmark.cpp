// What executors cost: the ring between two ranks by size.
//
// Between processes: mpirun -n 2 executors_benchmark --benchmark_filter=mpi

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/table.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {
namespace {

constexpr int kRanks = 2;
constexpr Seconds kTimeout{60};
/// A repeat count that all ranks of an MPI job share: each decides by its own clock otherwise, and they hang.
constexpr int kIterations = 30;

struct AllReduce {
  AllReduce(const char* name, const char* compression)
      : algorithm(find_entry(algorithms(), name, "algorithm")),
        schedule(algorithm.is_vendor() ? Schedule{} : algorithm.build({.world = {.workers = kRanks}})),
        compressor(parse_compressor(compression)) {}

  /// One rank's time, from when `meet` has brought all ranks together. A schedule's part is made before that; a
  /// library's own collective begins when it is made.
  Seconds run(Endpoint& endpoint, const Operand& operand, const std::function<void()>& meet) const {
    using Clock = std::chrono::steady_clock;
    std::unique_ptr<Operation> operation;
    if (!algorithm.is_vendor()) operation = endpoint.prepare(schedule, operand, compressor.encoding().codec);
    meet();
    const auto begin = Clock::now();
    if (algorithm.is_vendor()) operation = endpoint.vendor(CollectiveKind::all_reduce, operand);
    wait_for(*operation, kTimeout, fmt::format("rank {}", endpoint.transport().rank()));
    return Seconds(seconds_since(begin));
  }

  const Algorithm& algorithm;
  Schedule schedule;
  CompressorChoice compressor;
};

std::vector<float> make_buffer(const benchmark::State& state) {
  return std::vector<float>(static_cast<std::size_t>(state.range(0)) / sizeof(float), 1e-30F);
}

/// The first run is not counted.
void count(benchmark::State& state, const std::function<Seconds()>& run) {
  run();
  for (auto _ : state) state.SetIterationTime(run().value);
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void threads(benchmark::State& state, const char* algorithm, const char* compressor) {
  const AllReduce all_reduce(algorithm, compressor);
  const auto endpoints = make_thread_endpoints(kRanks);
  std::vector<std::vector<float>> buffers(kRanks, make_buffer(state));
  count(state, [&] {
    std::barrier start(kRanks);
    std::vector<Seconds> times(kRanks, Seconds(0));
    {
      std::vector<std::jthread> ranks;
      for (std::size_t rank = 0; rank < kRanks; ++rank)
        ranks.emplace_back([&, rank] {
          times[rank] = all_reduce.run(*endpoints[rank], Operand::of(buffers[rank]), [&] { start.arrive_and_wait(); });
        });
    }
    return *std::ranges::max_element(times);
  });
}

void mpi(benchmark::State& state, const char* algorithm, const char* compressor) {
  const AllReduce all_reduce(algorithm, compressor);
  const auto endpoint = make_mpi_endpoint();
  std::vector<float> buffer = make_buffer(state);
  // An all-reduce ends nowhere before it has begun everywhere.
  const auto meet = [&] {
    float nothing = 0;
    wait_for(*endpoint->vendor(CollectiveKind::all_reduce, Operand::of({&nothing, 1})), kTimeout, "all ranks");
  };
  count(state, [&] { return all_reduce.run(*endpoint, Operand::of(buffer), meet); });
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  // 46 MB is the gradient of ResNet-18; the others span what fusion makes of it.
  benchmark->Arg(4 << 10)->Arg(256 << 10)->Arg(4 << 20)->Arg(46'000'000);
  benchmark->UseManualTime()->Iterations(kIterations)->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(threads, ring, "ring", "none")->Apply(sizes);
BENCHMARK_CAPTURE(threads, ring_fp16, "ring", "fp16")->Apply(sizes);
BENCHMARK_CAPTURE(mpi, ring, "ring", "none")->Apply(sizes);
BENCHMARK_CAPTURE(mpi, ring_fp16, "ring", "fp16")->Apply(sizes);
BENCHMARK_CAPTURE(mpi, vendor, "vendor", "none")->Apply(sizes);

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
