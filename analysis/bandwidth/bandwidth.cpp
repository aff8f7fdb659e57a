#include "analysis/bandwidth/bandwidth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/points/lead.hpp"
#include "analysis/prediction/request.hpp"
#include "analysis/prediction/usual_batch.hpp"

namespace hbench {
namespace {

/// One thing, and the same cluster or case without it.
struct Suspect {
  std::string_view words;
  void (*remove)(Profile& profile, Case& asked);
};

constexpr std::array kSuspects{
    Suspect{"the latency of messages between nodes",
            [](Profile& profile, Case&) { profile.network_latency = profile.network_low_latency = Seconds(0); }},
    Suspect{"the links inside a node",
            [](Profile& profile, Case&) {
              profile.local_rate = kUnlimited;
              profile.local_latency = profile.local_low_latency = Seconds(0);
            }},
    Suspect{"what parameter servers handle",
            [](Profile& profile, Case&) {
              profile.server_rate = BytesPerSecond(0);
              profile.server_factor = 1;
            }},
    Suspect{"the memory of the GPUs (adding, packing and coding)",
            [](Profile& profile, Case&) { profile.memory_rate = BytesPerSecond(0); }},
    Suspect{"the framework: its cost on the host, and what its steps lose",
            [](Profile&, Case& asked) { asked.strategy.preset.clear(); }},
    Suspect{"stragglers", [](Profile& profile, Case&) { profile.straggler = 0; }},
    Suspect{"compute that communication slows", [](Profile& profile, Case&) { profile.overlap_slowdown = 0; }},
};

/// Rates that a search tries, where searches share what they have tried: for the estimate of progress only.
constexpr double kTriedRates = 25;

double efficiency(Seconds step, const SimulatedStep& of) { return of.times.alone / step; }

/// Passes of the coder over all gradients at the busiest GPU.
double coding_passes(const TrainingStrategy& strategy, World world, std::int64_t elements) {
  // What is sent, a part of the sums, what is added up, and all sums.
  if (strategy.compressor.both_sides) return 3 + 1.0 / world.workers;
  switch (strategy.compressor.compressor->exchange) {
    case Exchange::gather:
      return 1 + world.workers;
    case Exchange::low_rank:
      return 2;
    case Exchange::per_hop:
      break;
  }
  const AlgorithmChoice& choice = strategy.algorithm.at(elements * static_cast<std::int64_t>(sizeof(float)));
  if (choice.algorithm->uses_servers) world.group = 1;
  const Cost cost = choice.algorithm->cost({.world = world, .parameters = choice.parameters}, elements);
  return static_cast<double>(cost.sent + cost.received) / static_cast<double>(elements);
}

/// The same case without a compressor, by the same fusion policy where that was asked for (PowerSGD has one of its
/// own); null where there is none.
const PlannedCase* plain_of(const Case& compressed, const std::vector<PlannedCase>& cases) {
  const PlannedCase* plain = nullptr;
  for (const PlannedCase& each : cases) {
    const Case& asked = each;
    Strategy strategy = asked.strategy;
    if (strategy.compresses() || asked.workload != compressed.workload || asked.gpus != compressed.gpus) continue;
    strategy.compressor = compressed.strategy.compressor;
    if (strategy == compressed.strategy) return &each;
    strategy.fusion = compressed.strategy.fusion;
    if (strategy == compressed.strategy) plain = &each;
  }
  return plain;
}

/// Profiles of several nodes with the GPU of `base`; without one, all.
std::vector<KnownNetwork> networks_like(const Profile& base, const Data& data) {
  std::vector<KnownNetwork> networks;
  for (const std::string& name : data.profiles.names()) {
    const Profile profile = data.profiles.load(name);
    if (profile.most_nodes != 1 && (base.gpu.empty() || profile.gpu == base.gpu))
      networks.push_back({name, profile.path_rate()});
  }
  std::ranges::stable_sort(networks, {}, &KnownNetwork::reaches);
  return networks;
}

}  // namespace

Obstacle worst_obstacle(const PlannedCase& asked, const Catalog& catalog) {
  Obstacle worst;
  for (const Suspect& suspect : kSuspects) {
    Catalog other = catalog;
    Case without = asked;
    suspect.remove(other.profiles.at(without.profile), without);
    const SimulatedStep step = VariedNetwork(other).step(planned(without), kUnlimited);
    const double efficiency = step.times.alone / step.step();
    if (efficiency > worst.efficiency_without) worst = {std::string(suspect.words), efficiency};
  }
  return worst;
}

double parse_target(const std::string& text) {
  const double target = parse_target_efficiency(text);
  if (target >= 1)
    throw Error(ExitCode::usage, fmt::format("--target {} cannot be reached by any network", text),
                "the last gradient leaves when the compute is over: ask for 99% at most");
  return target;
}

RequiredBandwidth search_required(const PlannedCase& asked, double target, VariedNetwork& network) {
  const auto search = [&](Seconds SimulatedStep::*end) {
    return least_rate([&](BytesPerSecond rate) {
      const SimulatedStep& step = network.step(asked, rate);
      return efficiency(step.*end, step) >= target;
    });
  };
  RequiredBandwidth found{.asked = asked};
  found.least = search(&SimulatedStep::low);
  found.stated = least_rate([&](BytesPerSecond rate) {
    const SimulatedStep& step = network.step(asked, rate);
    return efficiency(step.step(), step) >= target;
  });
  found.most = search(&SimulatedStep::high);
  const SimulatedStep& best = network.step(asked, kUnlimited);
  const SimulatedStep& meets = found.stated ? network.step(asked, *found.stated) : best;
  if (!meets.unknowns.empty()) found.widest = largest(meets.unknowns).kind;
  found.best_efficiency = efficiency(best.step(), best);
  if (found.stated) return found;
  const Obstacle obstacle = worst_obstacle(asked, network.catalog());
  found.obstacle = obstacle.words;
  found.without_obstacle = obstacle.efficiency_without;
  return found;
}

BreakEven search_break_even(const PlannedCase& compressed, const PlannedCase& plain, VariedNetwork& network) {
  const auto& [asked, strategy] = compressed;
  const Profile& cluster = network.catalog().profiles.at(asked.profile);
  const std::int64_t elements = network.catalog().traces.at(asked.workload).timeline.all_elements();
  BreakEven found{.asked = asked};
  found.bits_per_element =
      8.0 * static_cast<double>(strategy.compressor.codec->max_wire_bytes(elements)) / static_cast<double>(elements);
  const Compressor& compressor = *strategy.compressor.compressor;
  found.bits_vary = compressor.bytes_vary;
  if (strategy.compressor.parameters == compressor.defaults) found.relative_error = compressor.relative_l2_error;
  const World world = compressed.world(cluster.gpus_per_domain());
  const double traffic = static_cast<double>(elements) * sizeof(float) * compressor.memory_traffic;
  if (cluster.memory_rate.value > 0)
    found.coding = coding_passes(strategy, world, elements) * (Bytes(traffic) / cluster.memory_rate);
  const auto below = [&](auto pays) -> std::optional<BytesPerSecond> {
    // The least rate at which it pays no more.
    const auto rate = least_rate(
        [&](BytesPerSecond tried) { return !pays(network.step(compressed, tried), network.step(plain, tried)); });
    if (!rate) return kUnlimited;
    return rate == kLeastRate ? std::nullopt : rate;
  };
  found.ahead_below = below([](const SimulatedStep& with, const SimulatedStep& without) {
    return lead_of(with.ends(), without.ends()).who() == Ahead::first;
  });
  found.even_at =
      below([](const SimulatedStep& with, const SimulatedStep& without) { return with.step() < without.step(); });
  return found;
}

BandwidthAnswer required_bandwidth(const PredictionRequest& request, double target, const Data& data,
                                   const SimulationMeans& means) {
  Plan plan = plan_across_nodes(request, data, means.memory);
  BandwidthAnswer answer{
      .target = target, .base = plan.catalog.profiles.begin()->second, .batches = batches_in_words(request)};
  int most_gpus = 0;
  for (const Case& asked : plan.cases) most_gpus = std::max(most_gpus, asked.gpus);
  means.more(kTriedRates * simulation_time(plan.cases, plan.catalog));
  for (const auto& [name, trace] : plan.catalog.traces) answer.titles[name] = title_with_batches(trace, plan.cases);
  VariedNetwork network(plan.catalog, means.stop);
  for (const PlannedCase& planned : plan.cases) {
    const Case& asked = planned;
    means.begun(simulation_in_words(asked));
    answer.required.push_back(search_required(planned, target, network));
    const PlannedCase* plain = asked.strategy.compresses() ? plain_of(asked, plan.cases) : nullptr;
    if (asked.strategy.compresses() && plain == nullptr)
      refuse(plan.refused, fmt::format("the break-even of {}", asked.strategy.label()),
             "there is nothing without a compressor to compare it with; add none to --compressor");
    if (plain != nullptr && asked.gpus == most_gpus)
      answer.break_even.push_back(search_break_even(planned, *plain, network));
    means.done(kTriedRates * simulation_time(planned, plan.catalog));
  }
  answer.networks = networks_like(answer.base, data);
  answer.refused = std::move(plan.refused);
  return answer;
}

}  // namespace hbench
