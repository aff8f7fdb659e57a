#include "tests/reports/default_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "analysis/published.hpp"
#include "collectives/base/table.hpp"
#include "collectives/network/step_simulator.hpp"
#include "workloads/trace.hpp"

namespace hbench {
namespace {

const std::filesystem::path kSource = HBENCH_SOURCE_DIR;
const std::vector<std::string> kWorkloads{"resnet50", "resnet101", "inception_v3", "vgg16"};
const std::vector<std::string> kProfiles{"uber-p100-25gbe-tcp", "uber-p100-25gbe-roce", "aws-p3-25gbe",
                                         "aws-p3dn-tcp",        "azure-nd96asr-v4",     "hkbu-10gbe"};

Strategy ring(const std::string& compressor) {
  return {.algorithm = "ring",
          .placement = "",
          .server_mode = "",
          .compressor = compressor,
          .fusion = parse_fusion("horovod").text()};
}

Strategy servers(const std::string& placement, const std::string& mode, int count) {
  return {.algorithm = "ps",
          .placement = placement,
          .servers = count,
          .server_mode = mode,
          .compressor = "none",
          .fusion = "none"};
}

std::vector<Strategy> strategies(int nodes) {
  std::vector<Strategy> all{ring("none"), ring("fp16")};
  for (const char* placement : {"greedy", "sliced"})
    for (const char* mode : {"colocated", "dedicated"}) all.push_back(servers(placement, mode, nodes));
  return all;
}

class Sweep {
 public:
  std::vector<CaseResult> results() {
    for (const std::string& profile : kProfiles)
      for (int gpus = 1; gpus <= 128; gpus *= 2)
        for (const std::string& workload : kWorkloads) simulate_all(workload, profile, gpus);
    for (CaseResult& figure : published_results()) publish(figure);
    return std::move(results_);
  }

 private:
  void simulate_all(const std::string& workload, const std::string& profile_name, int gpus) {
    const Profile profile = profiles_.load(profile_name);
    const auto rate = profile.rates.find(workload);
    if (rate == profile.rates.end()) return;
    const int nodes = (gpus + profile.gpus_per_node - 1) / profile.gpus_per_node;
    for (const Strategy& strategy : strategies(nodes))
      simulate(
          {.workload = workload,
           .gpus = gpus,
           .strategy = strategy,
           .profile = profile_name,
           .batch_per_gpu = rate->second.batch,
           .implementation = "simulator/1",
           .source = fmt::format("profile {} ({}); one GPU: {}", profile_name, profile.digest, rate->second.source)},
          profile);
  }

  void publish(CaseResult& figure) {
    Case& asked = figure.asked;
    if (asked.gpus > 128 || std::ranges::find(kWorkloads, asked.workload) == kWorkloads.end()) return;
    asked.strategy.fusion =
        parse_fusion(asked.strategy.fusion == "threshold" ? "threshold:1GiB" : asked.strategy.fusion).text();
    results_.push_back(figure);
    Case twin = asked;
    twin.evidence = Evidence::simulated;
    twin.implementation = "simulator/1";
    twin.source = fmt::format("profile {}", twin.profile);
    const Profile profile = profiles_.load(asked.profile);
    if (profile.rates.contains(asked.workload)) simulate(twin, profile);
  }

  void simulate(Case asked, const Profile& profile) {
    asked.evidence = Evidence::simulated;
    CaseResult result{.asked = asked, .status = CaseStatus::done, .failure = "", .exit_code = 0, .samples = {}};
    result.asked.source = "";
    if (!simulated_.insert(result.asked.key()).second) return;
    result.asked.source = asked.source;
    const double rate = profile.rates.find(asked.workload)->second.samples_per_second;
    const StepTimeline timeline = traces_.load(asked.workload).timeline.rescaled(rate, asked.batch_per_gpu);
    StepSimulator simulator(profile, {asked.gpus, asked.strategy.servers, asked.strategy.server_mode == "colocated"});
    const Strategy& how = asked.strategy;
    const StepStrategy strategy{
        .algorithm = &find_entry(algorithms(), how.algorithm, "algorithm"),
        .placement = how.placement.empty() ? nullptr : &find_entry(placements(), how.placement, "placement"),
        .compressor = &find_entry(compressors(), how.compressor, "compressor"),
        .fusion = parse_fusion(how.fusion),
        .overlap = how.overlap};
    const auto add = [&](const char* metric, double value) {
      result.samples.push_back({.metric = metric, .value = value, .unit = "s"});
    };
    const StepTimes times = simulator.run(timeline, strategy);
    add("step_seconds", times.step.value);
    add("step_seconds_low", simulator.run(timeline, strategy, 1 - profile.uncertainty).step.value);
    add("step_seconds_high", simulator.run(timeline, strategy, 1 + profile.uncertainty).step.value);
    add("baseline_throughput", rate);
    add("ledger/compute", times.compute.value);
    add("ledger/straggler", times.straggler.value);
    add("ledger/slowdown", times.slowdown.value);
    add("ledger/exposed", times.exposed.value);
    results_.push_back(std::move(result));
  }

  ProfileLibrary profiles_{kSource / "cluster-profiles"};
  TraceLibrary traces_{kSource / "workloads" / "traces"};
  std::set<std::string> simulated_;
  std::vector<CaseResult> results_;
};

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
  Strategy vendor = ring("none");
  vendor.algorithm = "vendor";
  results.push_back(measured(none, 1, 0.21));
  for (int ranks : {1, 2}) {
    results.push_back(measured(ring("none"), ranks, ranks == 1 ? 0.212 : 0.262));
    results.push_back(measured(servers("greedy", "dedicated", 1), ranks, ranks == 1 ? 0.245 : 0.338));
    results.push_back(measured(vendor, ranks, ranks == 1 ? 0.211 : 0.254));
  }
}

}  // namespace

ReportInput default_sweep() {
  std::vector<CaseResult> results;
  add_measured(results);
  std::ranges::move(Sweep().results(), std::back_inserter(results));
  ReportInput input;
  input.points = make_points(results);
  input.comparisons = compare_with_published(input.points);
  input.runs = {{.command = "hbench sweep --gpus 1..128",
                 .version = "0.1.0",
                 .started_at = "2026-01-02T03:04:05Z",
                 .environment = {{"cpu", "a processor"}, {"cores", "2"}, {"mpi", "Open MPI 4.1.4"}}}};
  const ProfileLibrary profiles(kSource / "cluster-profiles");
  for (const std::string& name : profiles.names()) input.profile_titles[name] = profiles.load(name).title;
  const TraceLibrary traces(kSource / "workloads" / "traces");
  for (const std::string& name : traces.names()) input.workload_titles[name] = traces.load(name).title;
  input.workload_titles["resnet18"] = "ResNet-18";
  return input;
}

}  // namespace hbench
