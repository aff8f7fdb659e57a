#include "tests/reports/default_sweep.hpp"

#include "analysis/prediction/simulate.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/reporting.hpp"
#include "bench/sweep/plan.hpp"

namespace hbench {
namespace {

CaseResult measured(const Strategy& strategy, int ranks, double seconds) {
  CaseResult result;
  result.asked = {.evidence = Evidence::measured,
                  .workload = "resnet18",
                  .gpus = ranks,
                  .strategy = strategy,
                  .profile = "local",
                  .batch_per_gpu = 16,
                  .image_size = 64,
                  .implementation = "engine/1",
                  .source = "made-up step times"};
  for (int launch = 0; launch < 3; ++launch)
    for (int iteration = 0; iteration < 12; ++iteration)
      for (int rank = 0; rank < ranks; ++rank)
        result.samples.push_back({.launch = launch,
                                  .rank = rank,
                                  .iteration = iteration,
                                  .warmup = iteration < 2,
                                  .metric = "step_seconds",
                                  .value = seconds * (1 + 0.01 * launch + 0.004 * ((iteration * 7 + rank) % 5)),
                                  .unit = "s"});
  return result;
}

void add_measured(std::vector<CaseResult>& results) {
  const Strategy none{
      .algorithm = "none", .placement = "", .server_mode = "", .compressor = "", .fusion = "", .overlap = false};
  const Strategy ring{.algorithm = "ring", .compressor = "none", .fusion = "horovod:128MiB:1ms"};
  const Strategy servers{.algorithm = "ps",
                         .placement = "greedy",
                         .servers = 1,
                         .server_mode = "dedicated",
                         .compressor = "none",
                         .fusion = "none"};
  Strategy vendor = ring;
  vendor.algorithm = "vendor";
  results.push_back(measured(none, 1, 0.21));
  for (int ranks : {1, 2}) {
    results.push_back(measured(ring, ranks, ranks == 1 ? 0.212 : 0.262));
    results.push_back(measured(servers, ranks, ranks == 1 ? 0.245 : 0.338));
    results.push_back(measured(vendor, ranks, ranks == 1 ? 0.211 : 0.254));
  }
}

}  // namespace

Plan default_plan() {
  SweepRequest request;
  request.gpus = {1, 2, 4, 8, 16, 32, 64, 128};
  request.evidence = {Evidence::simulated, Evidence::published};
  return make_plan(request, load_data(), {});
}

ReportInput default_sweep() {
  const Plan plan = default_plan();
  std::vector<CaseResult> results;
  add_measured(results);
  SimulatedRunner runner(plan.catalog);
  for (const PlannedCase& each : plan.cases) results.push_back(runner.run(each));
  results.insert(results.end(), plan.published.begin(), plan.published.end());
  return report_input(results, results,
                      {{.command = "hbench sweep --gpus 1..128",
                        .version = "0.1.0",
                        .started_at = "2026-01-02T03:04:05Z",
                        .environment = {{"cpu", "a processor"}, {"cores", "2"}, {"mpi", "Open MPI 4.1.4"}}}},
                      load_data());
}

}  // namespace hbench
