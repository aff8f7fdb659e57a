#include "analysis/fit/own_profile.hpp"

#include <fmt/format.h>

#include <array>
#include <ranges>

#include "analysis/fit/profile_text.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/toml_reader.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr std::array kQuestions{
    OwnQuestion{"--gpu", &OwnCluster::gpu, "the GPU, by its name in the catalogue", "h100-sxm", true},
    OwnQuestion{"--gpus-per-node", &OwnCluster::gpus_per_node, "GPUs in a node", "8", true},
    OwnQuestion{"--local-rate", &OwnCluster::local_rate,
                "what one GPU sends to the others of its node, in one direction (NVLink, or PCIe)", "370 GB/s", true},
    OwnQuestion{"--line-rate", &OwnCluster::line_rate, "the rate of one NIC", "400 Gbit/s", true},
    OwnQuestion{"--nics", &OwnCluster::nics, "NICs in a node that training uses; 0: one node alone", "8", true},
    OwnQuestion{"--transport", &OwnCluster::transport, "rdma (InfiniBand, RoCE, EFA) or tcp", "rdma", true},
    OwnQuestion{"--nodes-per-domain", &OwnCluster::nodes_per_domain,
                "nodes whose GPUs share an NVLink switch, such as 18 of an NVL72 rack", "18"},
    OwnQuestion{"--title", &OwnCluster::title, "one line for people", "Our cluster"},
    OwnQuestion{"--provider", &OwnCluster::provider, "who rents it", "Nebius"},
    OwnQuestion{"--instance-type", &OwnCluster::instance_type, "the provider's name of a node", "p5.48xlarge"},
    OwnQuestion{"--price", &OwnCluster::price, "what a node costs for an hour", "32usd"},
    OwnQuestion{"--region", &OwnCluster::region, "where that is its price", "us-east-1"},
    OwnQuestion{"--purchase", &OwnCluster::purchase, "on-demand, spot, reserved or capacity-block", "on-demand"},
};

/// A figure that nobody was asked.
struct Usual {
  std::string_view key, text, source;
};
constexpr std::array kLinks{
    Usual{"latency", "3.4 us", "NCCL 2.30 src/graph/tuning.cc: NVLink hop of a ring, Simple protocol"},
    Usual{"low_latency", "0.6 us", "NCCL 2.30 src/graph/tuning.cc: NVLink hop of a ring, LL protocol"}};
constexpr std::array kBus{
    Usual{"latency", "5.7 us", "NCCL 2.30 src/graph/tuning.cc: PCIe hop of a ring, Simple protocol"},
    Usual{"low_latency", "1 us", "NCCL 2.30 src/graph/tuning.cc: PCIe hop of a ring, LL protocol"}};
constexpr std::array kRdma{
    Usual{"latency", "14 us", "NCCL 2.30 src/graph/tuning.cc: network hop of a ring, Simple protocol"},
    Usual{"low_latency", "2.7 us", "NCCL 2.30 src/graph/tuning.cc: network hop of a ring, LL protocol"},
    Usual{"protocol_efficiency", "0.95",
          "Azure azurehpc-health-checks (commit 0e0a1ac), nd96isr_h100_v5.conf: 380 of 400 Gbit/s of InfiniBand"}};
constexpr std::array kTcp{
    Usual{
        "latency", "15 us",
        "derived from github.com/HKBU-HPML/ddl-benchmarks: 161 unfused all-reduces of ResNet-50 on 16 and 32 GPUs over "
        "10 GbE cost 15 to 17 us for each of their 2(N-1) ring steps"},
    Usual{"protocol_efficiency", "0.957",
          "arithmetic: TCP/IP over Ethernet with 1500-byte frames carries 94.1 % of the line, with jumbo frames 99 %"},
    Usual{"stream_cap", "15 Gbit/s",
          "the median of 11 sources (collectives/network/accuracy.md): NCCL over TCP on lines of 25 to 100 Gbit/s"},
    Usual{"stream_factor", "6", "the same sources: 1.8 to 38 Gbit/s"}};
constexpr std::array kCompute{
    Usual{"overlap_slowdown", "0.15",
          "arXiv:2507.03114: overlapped compute slows 18.9 % on average, 40 % at most (newer GPUs); 15 % taken"},
    Usual{"straggler", "0.015",
          "NVIDIA DeepLearningExamples, V100 fp32 ResNet-50: 97 % on 8 GPUs of one node, where 2 % are left after "
          "communication; the largest of 8 draws lies 1.42 deviations out"}};

std::string lines_of(std::span<const Usual> all) {
  std::string lines;
  for (const Usual& each : all) lines += profile_line(each.key, each.text, each.source);
  return lines;
}

int number_of_gpus(const OwnCluster& cluster) { return parse_number<int>(cluster.gpus_per_node).value_or(0); }

bool is_alone(const OwnCluster& cluster) { return cluster.nics == "0"; }
bool has_links(const OwnCluster& cluster) { return cluster.gpus_per_node != "1" || !cluster.nodes_per_domain.empty(); }

/// `240 GB/s`
std::string gigabytes(BytesPerSecond rate) { return fmt::format("{:.4g} GB/s", rate.value / 1e9); }

std::string rate_line(std::string_view key, const LinkRate& link) {
  return profile_line(key, gigabytes(link.rate), link.source, link.assumed);
}

std::string local(const OwnCluster& cluster, const std::string& how) {
  if (!has_links(cluster)) return "";
  const bool stated = !cluster.local_rate.empty();
  std::map<int, LinkRate> fewer = cluster.rates_among;
  const LinkRate all = stated ? LinkRate{parse_rate(cluster.local_rate), how} : fewer.rbegin()->second;
  const bool bridged = !stated && all.links;
  std::string lines = lines_of(bridged || all.rate > kFastestBus ? kLinks : kBus) +
                      (stated ? profile_line("rate", cluster.local_rate, how) : rate_line("rate", all));
  if (bridged) lines += profile_line("peer_access", "true", "NVLinks join these GPUs");
  fewer.erase(number_of_gpus(cluster));
  // A rate is that of fewer GPUs too, down to the next one that is stated.
  BytesPerSecond above = all.rate;
  for (const auto& [gpus, link] : std::views::reverse(fewer)) {
    if (link.rate != above) lines += rate_line(fmt::format("rate_{}", gpus), link);
    above = link.rate;
  }
  return lines;
}

std::string network(const OwnCluster& cluster, const std::string& how) {
  if (is_alone(cluster))
    return profile_line("line_rate", "10 Gbit/s", "nothing leaves the one node") +
           lines_of(std::span<const Usual>(kTcp).first(2));
  std::string lines = profile_line("line_rate", cluster.line_rate, how) + profile_line("nics", cluster.nics, how);
  if (cluster.transport == "rdma") return lines + lines_of(kRdma);
  // What streams carry is a bound only where the NICs are faster.
  const bool capped = parse_rate(cluster.line_rate) * std::stoi(cluster.nics) > parse_rate(kTcp[2].text);
  return lines + lines_of(std::span<const Usual>(kTcp).first(capped ? 4 : 2));
}

std::string price(const OwnCluster& cluster, const std::string& how, const std::string& day) {
  if (cluster.price.empty()) return "";
  return price_lines(
      Price{.per_node_hour = *parse_money(cluster.price),
            .region = cluster.region.empty() ? std::string(kNotStated) : cluster.region,
            .retrieved = day,
            .model = cluster.purchase.empty() ? PurchaseModel::on_demand : parse_purchase_model(cluster.purchase),
            .source = how});
}

void check_count(const std::string& text, int least) {
  const auto count = parse_number<int>(text);
  if (!count || *count < least || *count > 1'000'000)
    throw Error(ExitCode::usage, fmt::format("'{}' is not a count", text),
                fmt::format("write a whole number of at least {}", least));
}

void check_text(std::string OwnCluster::*answer, const std::string& text) {
  if (answer == &OwnCluster::gpus_per_node || answer == &OwnCluster::nodes_per_domain) return check_count(text, 1);
  if (answer == &OwnCluster::nics) return check_count(text, 0);
  if (answer == &OwnCluster::local_rate || answer == &OwnCluster::line_rate) {
    parse_rate(text);
  } else if (answer == &OwnCluster::transport && text != "rdma" && text != "tcp") {
    throw Error(ExitCode::usage, fmt::format("'{}' is no transport", text), "write rdma or tcp");
  } else if (answer == &OwnCluster::price && !parse_money(text)) {
    throw Error(ExitCode::usage, fmt::format("'{}' is no price", text), "write what a node costs, such as 32usd");
  } else if (answer == &OwnCluster::purchase) {
    parse_purchase_model(text);
  }
}

}  // namespace

std::span<const OwnQuestion> own_questions() { return kQuestions; }

bool lacks(const OwnCluster& cluster, const OwnQuestion& question) {
  if (!question.required || !(cluster.*question.answer).empty()) return false;
  if (question.answer == &OwnCluster::line_rate || question.answer == &OwnCluster::transport) return !is_alone(cluster);
  return question.answer != &OwnCluster::local_rate ||
         (has_links(cluster) && !cluster.rates_among.contains(number_of_gpus(cluster)));
}

std::vector<std::string> lacking(const OwnCluster& cluster) {
  std::vector<std::string> flags;
  for (const OwnQuestion& question : kQuestions)
    if (lacks(cluster, question)) flags.emplace_back(question.flag);
  return flags;
}

void take_links(OwnCluster& cluster, const NodeLinks& links, const Profile& gpu) {
  const std::string count = std::to_string(links.size());
  if (cluster.gpus_per_node.empty()) cluster.gpus_per_node = count;
  if (cluster.gpus_per_node != count)
    throw Error(ExitCode::usage,
                fmt::format("--gpus-per-node {}, and the topology has {} GPUs", cluster.gpus_per_node, count),
                "leave --gpus-per-node out, or give the topology of such a node");
  cluster.rates_among = rates_among(links, gpu);
  if (cluster.local_rate.empty() && !cluster.rates_among.contains(number_of_gpus(cluster)))
    throw Error(ExitCode::usage,
                fmt::format("the bus of '{}' is not in the catalogue, and its GPUs use it", cluster.gpu),
                "give --local-rate, what a GPU sends to the others over PCIe");
}

void check_answer(const OwnCluster& cluster, const OwnQuestion& question) {
  const std::string& text = cluster.*question.answer;
  if (text.empty()) return;
  try {
    check_text(question.answer, text);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", question.flag, error.what()), error.hint());
  }
}

std::string own_profile(const OwnCluster& cluster, const std::string& how, const std::string& day) {
  const std::string network_title =
      is_alone(cluster) ? "one node" : fmt::format("{} x {}", cluster.nics, cluster.line_rate);
  const std::string title = !cluster.title.empty()
                                ? cluster.title
                                : fmt::format("{} x {}, {}", cluster.gpus_per_node, cluster.gpu, network_title);
  std::string text = fmt::format("title = {}\n", toml_text(title));
  if (!cluster.provider.empty()) text += fmt::format("provider = {}\n", toml_text(cluster.provider));
  if (!cluster.instance_type.empty()) text += fmt::format("instance_type = {}\n", toml_text(cluster.instance_type));
  text += fmt::format("gpu = {}\n", toml_text(cluster.gpu)) + profile_line("gpus_per_node", cluster.gpus_per_node, how);
  if (!cluster.nodes_per_domain.empty()) text += profile_line("nodes_per_domain", cluster.nodes_per_domain, how);
  if (is_alone(cluster)) text += profile_line("most_nodes", "1", how);
  return text + profile_section("local", local(cluster, how)) + profile_section("network", network(cluster, how)) +
         profile_section("compute", lines_of(kCompute)) +
         profile_section("prediction", profile_line("uncertainty", "0.2",
                                                    "nothing was measured: latencies are those of other clusters")) +
         profile_section("price", price(cluster, how, day));
}

}  // namespace hbench
