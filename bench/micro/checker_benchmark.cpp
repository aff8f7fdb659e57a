// What a proof costs: symbolic execution of every schedule by world size.

#include <benchmark/benchmark.h>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/table.hpp"
#include "collectives/checker.hpp"

namespace hbench {
namespace {

void prove(benchmark::State& state, const char* name) {
  const Algorithm& algorithm = find_entry(algorithms(), name, "algorithm");
  const int workers = static_cast<int>(state.range(0));
  const World world{.workers = workers, .servers = algorithm.uses_servers ? workers : 0, .colocated = true};
  const Schedule schedule = algorithm.build({.world = world});
  for (auto _ : state)
    if (check(schedule).has_value()) state.SkipWithError("a schedule that is no all-reduce");
  const auto transfers = static_cast<double>(schedule.transfers.size());
  state.counters["transfers/s"] = benchmark::Counter(transfers, benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK_CAPTURE(prove, ring, "ring")->Arg(8)->Arg(64)->Arg(128);
BENCHMARK_CAPTURE(prove, parameter_server, "ps")->Arg(8)->Arg(64)->Arg(128);

}  // namespace
}  // namespace hbench

BENCHMARK_MAIN();
