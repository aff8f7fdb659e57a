#include "analysis/compare/compare.hpp"

#include <algorithm>

#include "analysis/prediction/request.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/prediction/simulate_each.hpp"
#include "analysis/prediction/usual_batch.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

constexpr std::array kUber{
    ComparedPlace{.label = "25 Gbit/s TCP", .nodes = "uber-p100-25gbe-tcp"},
    ComparedPlace{.label = "25 Gbit/s RDMA", .nodes = "uber-p100-25gbe-roce"},
};

constexpr std::array kEthernet{
    ComparedPlace{.label = "10 Gbit/s Ethernet", .nodes = "aws-p3-25gbe", .network = "hkbu-10gbe"},
    ComparedPlace{.label = "25 Gbit/s Ethernet", .nodes = "aws-p3-25gbe"},
    ComparedPlace{.label = "30 Gbit/s Ethernet", .nodes = "aws-p3-25gbe", .gbit_per_second = 30},
    ComparedPlace{.label = "100 Gbit/s Ethernet", .nodes = "aws-p3-25gbe", .network = "generic-100gbe-tcp"},
    ComparedPlace{.label = "100 Gbit/s InfiniBand", .nodes = "aws-p3-25gbe", .network = "hkbu-100gbib"},
};

constexpr std::array kV100{
    ComparedPlace{.label = "p3.16xlarge, 25 Gbit/s", .nodes = "aws-p3-25gbe"},
    ComparedPlace{.label = "p3dn.24xlarge, 100 Gbit/s", .nodes = "aws-p3dn-tcp"},
};

constexpr std::array kA100{
    ComparedPlace{.label = "100 Gbit/s TCP", .nodes = "azure-nd96asr-v4", .network = "aws-p3dn-tcp"},
    ComparedPlace{.label = "100 Gbit/s RDMA", .nodes = "azure-nd96asr-v4", .gbit_per_second = 100},
    ComparedPlace{.label = "400 Gbit/s RDMA", .nodes = "azure-nd96asr-v4", .gbit_per_second = 400},
    ComparedPlace{.label = "1600 Gbit/s RDMA", .nodes = "azure-nd96asr-v4"},
};

constexpr std::array kComparisons{
    ReadyComparison{
        .name = "horovod-tensorflow",
        .summary = "Horovod or TensorFlow's servers, 25 Gbit/s TCP and RDMA",
        .note = "Nodes of 4 P100. Horovod's documentation states 90 % for Inception V3 and ResNet-101 and 68 % for "
                "VGG-16 on "
                "512 GPUs, an older one 90 and 79 % on 128. TensorFlow's servers hold whole variables, one server on "
                "each node.",
        .workloads = "inception_v3,resnet101,vgg16",
        .presets = "horovod-2018,tf-ps",
        .gpus = "8,32,128,512",
        .places = kUber,
        .measured = {MeasuredSide{"Horovod", "horovod"}, MeasuredSide{"TensorFlow", "tensorflow"}}},
    ReadyComparison{
        .name = "ethernet-infiniband",
        .summary = "10, 25, 30, 100 Gbit/s Ethernet or InfiniBand, 8 x V100",
        .note = "Nodes of aws-p3-25gbe on the networks of other profiles: latency, caps of TCP streams and the rate of "
                "parameter servers come with the network. 10 Gbit/s is that of hkbu-10gbe, 30 that of aws-p3-25gbe "
                "with a faster line, 100 that of generic-100gbe-tcp and of hkbu-100gbib.",
        .workloads = "resnet50,vgg16",
        .presets = "horovod,byteps",
        .gpus = "16,32,64,128",
        .places = kEthernet},
    ReadyComparison{
        .name = "v100-25-100",
        .summary = "AWS instances with 8 V100: 25 against 100 Gbit/s",
        .note = "p3dn has four times the line of p3, and its TCP streams reach what the profile says of them: how many "
                "NCCL opens is known within a factor only, so its bands are wide.",
        .workloads = "resnet50,vgg16",
        .presets = "horovod,byteps",
        .gpus = "16,32,64,128",
        .places = kV100},
    ReadyComparison{
        .name = "a100-100-400-1600",
        .summary = "Nodes of 8 A100 with 100, 400 and 1600 Gbit/s",
        .note = "Nodes of azure-nd96asr-v4 (1600 Gbit/s) with slower lines, all else the same; 100 Gbit/s TCP is the "
                "network of aws-p3dn-tcp under these nodes.",
        .workloads = "resnet50,vgg16",
        .presets = "horovod,byteps",
        .gpus = "16,32,64,128",
        .places = kA100},
};

PredictionRequest request_of(const ReadyComparison& asked, const ComparedPlace& place) {
  PredictionRequest request;
  request.gpus = parse_gpu_range(asked.gpus);
  request.workloads = split_list(asked.workloads, "workloads");
  request.presets = split_list(asked.presets, "presets");
  request.profiles = {std::string(place.nodes)};
  if (place.is_real()) request.evidence.insert(Evidence::published);
  return request;
}

/// The place's plan, with its network in the catalog.
Plan plan_of(const ReadyComparison& asked, const ComparedPlace& place, const Data& data, std::int64_t memory) {
  Plan plan = plan_predictions(request_of(asked, place), data, {.memory = memory});
  Profile& profile = plan.catalog.profiles.find(place.nodes)->second;
  if (!place.network.empty()) profile = with_network_of(profile, data.profiles.load(place.network));
  if (place.gbit_per_second > 0) profile.line_rate = BytesPerSecond(place.gbit_per_second * 1e9 / 8) / profile.nics;
  return plan;
}

}  // namespace

std::span<const ReadyComparison> ready_comparisons() { return kComparisons; }

const ReadyComparison& find_comparison(std::string_view name) {
  return find_entry(ready_comparisons(), name, "comparison");
}

Profile with_network_of(Profile nodes, const Profile& network) {
  nodes.network_latency = network.network_latency;
  nodes.network_low_latency = network.network_low_latency;
  nodes.line_rate = network.line_rate;
  nodes.nics = network.nics;
  nodes.stream_cap = network.stream_cap;
  nodes.stream_factor = network.stream_factor;
  nodes.streams = network.streams;
  nodes.protocol_efficiency = network.protocol_efficiency;
  nodes.server_rate = network.server_rate;
  nodes.server_factor = network.server_factor;
  nodes.uncertainty = std::max(nodes.uncertainty, network.uncertainty);
  return nodes;
}

ComparisonAnswer compare(const ReadyComparison& asked, const Data& data, const SimulationMeans& means) {
  ComparisonAnswer answer{.asked = &asked};
  std::vector<Plan> plans;
  for (const ComparedPlace& place : asked.places) {
    const Plan& plan = plans.emplace_back(plan_of(asked, place, data, means.memory));
    means.more(simulation_time(plan.cases, plan.catalog));
  }
  std::vector<CaseResult> results;
  std::vector<PlannedCase> cases;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const ComparedPlace& place = asked.places[i];
    // A published point keeps its cluster's name, by which it is known what was chosen with it.
    const std::string label(place.label), profile(place.is_real() ? place.nodes : place.label);
    answer.labels[profile] = label;
    Plan& plan = plans[i];
    const auto add = [&](CaseResult result) {
      result.asked.profile = profile;
      results.push_back(std::move(result));
    };
    for (CaseResult& simulated : simulate_all(plan.cases, plan.catalog, means)) add(std::move(simulated));
    for (CaseResult& published : plan.published) add(std::move(published));
    cases.insert(cases.end(), plan.cases.begin(), plan.cases.end());
    for (const auto& [name, trace] : plan.catalog.traces) answer.titles[name] = title_with_batches(trace, cases);
    for (const Refusal& refusal : plan.refused) refuse(answer.refused, refusal.what, refusal.why);
  }
  answer.points = make_points(results);
  return answer;
}

}  // namespace hbench
