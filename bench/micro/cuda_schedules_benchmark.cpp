// Our schedules between 2, 4 and 8 ranks that share one GPU, beside the time that their bytes need.
//
// A transfer that reduces reads two chunks and writes one, another reads one and writes one; that many bytes at the
// bandwidth of a device-to-device copy of the same buffer, taken in turn in the same run, are the bound. `of_bound` is
// bound / time. Repeat with: cuda_schedules_benchmark [--benchmark_filter=ring]

#include <benchmark/benchmark.h>

#include <barrier>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/micro/in_turn.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/cuda/cuda.hpp"
#include "collectives/cuda/cuda_endpoints.hpp"
#include "collectives/exchange/exchange.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

/// Several times any second-level cache.
constexpr std::size_t kBytes = std::size_t{256} << 20;
constexpr int kSamples = 15;
constexpr Seconds kTimeout{60};

/// Bytes that all ranks read and write together.
double bytes_moved(const Schedule& schedule) {
  const auto elements = static_cast<std::int64_t>(kBytes / sizeof(float));
  double bytes = 0;
  for (const Transfer& transfer : schedule.transfers) {
    if (transfer.src == transfer.dst) continue;
    const ElementRange range = schedule.range(transfer.first_chunk, transfer.chunk_count, elements);
    bytes += (transfer.kind == TransferKind::reduce ? 3.0 : 2.0) * static_cast<double>(range.size()) * sizeof(float);
  }
  return bytes;
}

/// Small normal numbers: hardware is faster on zeros, and sums of eight ranks may be added up some 30 times in a row
/// before they overflow.
std::span<const std::byte> random_bytes() {
  static const std::vector<float> values = [] {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 1e-6F);
    std::vector<float> table(1 << 16), all(kBytes / sizeof(float));
    for (float& x : table) x = normal(random);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = table[(i * 7 + (i >> 16) * 31) & 0xffff];
    return all;
  }();
  return std::as_bytes(std::span(values));
}

/// The ranks of one job, each a thread with a stream of its own, and their all-reduce, made once.
class Job {
 public:
  Job(const AlgorithmChoice& algorithm, int ranks) : endpoints_(make_cuda_endpoints(ranks)) {
    for (const auto& endpoint : endpoints_) {
      const std::span<std::byte> buffer = endpoint->allocate(kBytes);
      endpoint->device().write(random_bytes(), buffer);
      operations_.push_back(prepare_exchange(*endpoint, {.world = {.workers = ranks},
                                                         .algorithm = algorithm,
                                                         .compressor = parse_compressor("none"),
                                                         .operand = {.buffer = buffer}}));
    }
  }

  /// From all ranks' beginning to the end of the work of the last.
  double run() {
    std::barrier start(std::ssize(endpoints_) + 1), end(std::ssize(endpoints_) + 1);
    std::vector<std::jthread> ranks;
    for (std::size_t rank = 0; rank < endpoints_.size(); ++rank)
      ranks.emplace_back([&, rank] {
        if (used_) operations_[rank]->restart();
        start.arrive_and_wait();
        wait_for(*operations_[rank], kTimeout, "a rank");
        synchronize(endpoints_[rank]->device());
        end.arrive_and_wait();
      });
    start.arrive_and_wait();
    const auto begin = Clock::now();
    end.arrive_and_wait();
    used_ = true;
    return seconds_since(begin);
  }

 private:
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::vector<std::unique_ptr<Operation>> operations_;
  bool used_ = false;
};

void all_reduce(benchmark::State& state, const std::string& name, int ranks) {
  const AlgorithmChoice algorithm = parse_algorithm(name);
  const double bytes = bytes_moved(algorithm.build({.workers = ranks}, 1));
  const auto device = make_cuda_device(0);
  const DeviceMemory from = device->allocate(kBytes), to = device->allocate(kBytes);
  device->write(random_bytes(), {from.get(), kBytes});
  const auto copy = [&] {
    synchronize(*device);
    const auto begin = Clock::now();
    for (int i = 0; i < 10; ++i) device->copy({from.get(), kBytes}, {to.get(), kBytes});
    synchronize(*device);
    return seconds_since(begin) / 10;
  };
  Job job(algorithm, ranks);
  job.run();
  copy();
  std::vector<double> of_job, of_copy;
  for (auto _ : state) {
    of_copy.push_back(copy());
    of_job.push_back(job.run());
    state.SetIterationTime(of_job.back());
  }
  state.counters["GB/s"] = bytes / median(of_job) / 1e9;
  state.counters["of_bound"] = bytes / (2.0 * kBytes / median(of_copy)) / median(of_job);
}

}  // namespace
}  // namespace hbench

int main(int argc, char** argv) {
  using namespace hbench;
  if (const Availability gpu = cuda_availability(); !gpu.available) {
    std::fprintf(stderr, "no GPU to measure: %s\n", gpu.in_words().c_str());
    return 3;
  }
  for (const char* algorithm : {"ring", "direct", "halving-doubling"})
    for (const int ranks : {2, 4, 8})
      benchmark::RegisterBenchmark((std::string(algorithm) + "/" + std::to_string(ranks)).c_str(),
                                   [=](benchmark::State& state) { all_reduce(state, algorithm, ranks); })
          ->Iterations(kSamples)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
