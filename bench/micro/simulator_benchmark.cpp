// What virtual time costs in real time: one collective, and one training step.

#include <benchmark/benchmark.h>

#include "collectives/base/table.hpp"
#include "workloads/simulation/step_simulator.hpp"
#include "workloads/step/trace.hpp"

namespace hbench {
namespace {

Profile cluster() { return ProfileLibrary(HBENCH_SOURCE_DIR "/cluster-profiles").load("aws-p3-25gbe"); }

/// `workers` and, where the algorithm has any, one co-located server per node of eight.
World world_of(const Algorithm& algorithm, std::int64_t workers) {
  const int count = static_cast<int>(workers);
  return {
      .workers = count, .servers = algorithm.uses_servers ? (count + 7) / 8 : 0, .colocated = algorithm.uses_servers};
}

void collective(benchmark::State& state, const char* name) {
  const Algorithm& algorithm = find_entry(algorithms(), name, "algorithm");
  const Profile profile = cluster();
  ScheduleRequest request{.world = world_of(algorithm, state.range(0)), .parameters = algorithm.defaults};
  if (algorithm.uses_groups) request.world.group = profile.gpus_per_node;
  const RunSchedule schedule = algorithm.runs(request);
  Network network(profile, schedule.world);
  const SimulationPlan plan(network.layout(), schedule);
  for (auto _ : state) benchmark::DoNotOptimize(simulate(network, plan, Encoding(), 25'557'032));
  const auto transfers = static_cast<double>(transfers_of(schedule));
  state.counters["transfers/s"] = benchmark::Counter(transfers, benchmark::Counter::kIsIterationInvariantRate);
}

/// A step of ResNet-50 on a simulator that has seen nothing yet.
void step(benchmark::State& state, const char* name, const char* fusion) {
  const Algorithm& algorithm = find_entry(algorithms(), name, "algorithm");
  const Profile profile = cluster();
  const GpuRate& rate = profile.rates.at("resnet50");
  const StepTimeline timeline = TraceLibrary(HBENCH_SOURCE_DIR "/workloads/traces")
                                    .load("resnet50")
                                    .timeline.rescaled(rate.samples_per_second, rate.batch);
  const TrainingStrategy strategy{
      .algorithm = parse_algorithm_rule(name),
      .placement = algorithm.uses_servers ? &find_entry(placements(), "sliced", "placement") : nullptr,
      .fusion = parse_fusion(fusion),
      .overlap = true};
  for (auto _ : state) {
    StepSimulator simulator(profile, world_of(algorithm, state.range(0)));
    benchmark::DoNotOptimize(simulator.run(timeline, strategy));
  }
  state.counters["steps/s"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK_CAPTURE(collective, ring, "ring")->Arg(16)->Arg(128)->Arg(1024)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(collective, hierarchical, "hierarchical")->Arg(1024)->Arg(8192)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(collective, halving_doubling, "halving-doubling")
    ->Arg(1024)
    ->Arg(8192)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(collective, tree, "double-binary-tree")->Arg(1024)->Arg(8192)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(collective, parameter_server, "ps")->Arg(16)->Arg(128)->Arg(1024)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step, ring, "ring", "horovod")->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, parameter_server, "ps", "none")->Arg(128)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hbench

BENCHMARK_MAIN();
