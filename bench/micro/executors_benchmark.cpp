// What executors cost: the ring between two ranks by size.
//
// Between processes: mpirun -n 2 executors_benchmark --benchmark_filter=mpi

#include <benchmark/benchmark.h>

#include <memory>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/table.hpp"
#include "collectives/executors/endpoint.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {
namespace {

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
