// What a proof costs: symbolic execution of every schedule by world size, and of the whole family for worlds 1 to 256.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/schedule/checker.hpp"

namespace hbench {
namespace {

/// Segments of pipelined algorithms here.
constexpr int kSegments = 4;
/// Ranks per node here, where they fill their nodes.
constexpr int kGroup = 8;

/// `world` of `workers` as the algorithm needs it.
World world_for(const Algorithm& algorithm, int workers) {
  World world{.workers = workers, .servers = algorithm.uses_servers ? workers : 0, .colocated = true};
  if (algorithm.uses_groups && workers % kGroup == 0) world.group = kGroup;
  return world;
}

Schedule schedule_of(const Algorithm& algorithm, int workers) {
  return algorithm.build({.world = world_for(algorithm, workers),
                          .segments = algorithm.segments == nullptr ? 1 : kSegments,
                          .parameters = algorithm.defaults});
}

void prove(benchmark::State& state, const Algorithm& algorithm) {
  const Schedule schedule = schedule_of(algorithm, static_cast<int>(state.range(0)));
  for (auto _ : state)
    if (check(schedule).has_value()) state.SkipWithError("a schedule that does not reach its collective");
  const auto transfers = static_cast<double>(schedule.transfers.size());
  state.counters["transfers/s"] = benchmark::Counter(transfers, benchmark::Counter::kIsIterationInvariantRate);
}

/// Builds and proves every algorithm of every collective for every world up to `range(0)` workers.
void prove_all(benchmark::State& state) {
  std::int64_t schedules = 0, transfers = 0;
  for (auto _ : state)
    for (const Algorithm* algorithm : algorithms()) {
      if (algorithm->is_vendor()) continue;
      for (int workers = 1; workers <= state.range(0); ++workers) {
        const Schedule schedule = schedule_of(*algorithm, workers);
        if (check(schedule).has_value()) state.SkipWithError("a schedule that does not reach its collective");
        ++schedules;
        transfers += std::ssize(schedule.transfers);
      }
    }
  state.counters["schedules"] = benchmark::Counter(static_cast<double>(schedules), benchmark::Counter::kAvgIterations);
  state.counters["transfers"] = benchmark::Counter(static_cast<double>(transfers), benchmark::Counter::kAvgIterations);
}

void register_benchmarks() {
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->is_vendor()) continue;
    const std::string name = fmt::format("prove/{}/{}", to_string(algorithm->collective), algorithm->name);
    benchmark::RegisterBenchmark(name.c_str(), [algorithm](benchmark::State& state) { prove(state, *algorithm); })
        ->Arg(8)
        ->Arg(64)
        ->Arg(256)
        ->Unit(benchmark::kMicrosecond);
  }
  // The total that the project promises to keep under 60 s on one core.
  benchmark::RegisterBenchmark("prove_all_algorithms_for_worlds_1_to", prove_all)
      ->Arg(256)
      ->Iterations(1)
      ->Unit(benchmark::kSecond);
}

}  // namespace
}  // namespace hbench

int main(int argc, char** argv) {
  hbench::register_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
