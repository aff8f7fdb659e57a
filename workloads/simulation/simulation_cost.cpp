#include "workloads/simulation/simulation_cost.hpp"

#include <algorithm>
#include <map>

#include "collectives/exchange/exchange.hpp"
#include "collectives/network/concurrent_collectives.hpp"
#include "workloads/simulation/free_run.hpp"

namespace hbench {
namespace {

/// Of a step in a small world: a few hundred events of the fusion policy.
constexpr Seconds kSmallStep(0.004);
/// Of one transfer that is taken for itself; more where times are kept for runs of chunks. Of one in a run that goes
/// from node to node, and of the run. Measured with double binary trees, halving-doubling, rings and hierarchies of
/// 1024 and 8192 workers (Release, one core of a server).
constexpr Seconds kPerTransfer(12.5e-9);
constexpr Seconds kPerTransferOfRanges(100e-9);
constexpr Seconds kPerTransferInRun(2.5e-9);
constexpr Seconds kPerRun(300e-9);
/// Of a piece that shares links with others. Measured with servers for 128 and 1024 workers.
constexpr Seconds kPerPiece(150e-9);

constexpr auto kFloat = static_cast<std::int64_t>(sizeof(float));

/// What travels for one bucket.
AlgorithmChoice scheduled(const AlgorithmChoice& algorithm, const TrainingStrategy& strategy) {
  const bool gathers = strategy.compressor.compressor->exchange == Exchange::gather;
  return gathers ? all_gather_of(algorithm).value() : algorithm;
}

/// What travels before it, where both sides encode.
AlgorithmChoice scattered_directly() { return parse_algorithm("direct", CollectiveKind::reduce_scatter); }

/// Buckets that share the network, each with a schedule of its own.
struct Flights {
  std::int64_t transfers = 0;
  std::int64_t bytes = 0;  ///< of memory
};

/// As if every tensor were a bucket, which is usual with servers.
Flights flights_of(const World& world, const StepTimeline& timeline, const TrainingStrategy& strategy) {
  const AlgorithmChoice& algorithm = strategy.algorithm.at(0);
  std::vector<std::vector<Shard>> shards(timeline.gradients.size());
  if (strategy.placement != nullptr) shards = strategy.placement->place(timeline.elements(), world.servers);
  Flights flights;
  for (const std::vector<Shard>& placed : shards) {
    const Shape shape =
        algorithm.algorithm->shape({.world = world, .parameters = algorithm.parameters, .shards = placed});
    flights.transfers += shape.transfers;
    flights.bytes += ConcurrentCollectives::bytes_in_flight(world, shape);
  }
  return flights;
}

/// The same cluster as two nodes whose messages take as long as a whole round trip of `rounds` rounds: buckets of about
/// the sizes of the large world leave in no time.
Profile pair_like(Profile profile, int rounds) {
  profile.gpus_per_node = profile.nodes_per_domain = 1;
  profile.network_latency = profile.network_latency * std::max(1.0, rounds / 2.0);
  profile.network_low_latency = profile.network_low_latency * std::max(1.0, rounds / 2.0);
  return profile;
}

/// Elements of the buckets that the three runs send, each once.
std::vector<std::int64_t> bucket_sizes(const Profile& profile, const World& world, const StepTimeline& timeline,
                                       const TrainingStrategy& strategy) {
  const std::int64_t bytes = timeline.all_elements() * kFloat;
  const AlgorithmChoice& large = strategy.algorithm.at(bytes);
  const Shape shape = large.algorithm->shape(
      {.world = world, .segments = large.segments(world, bytes), .parameters = large.parameters});
  const Profile pair = pair_like(profile, shape.rounds);
  TrainingStrategy plain = strategy;
  plain.algorithm = parse_algorithm_rule("ring");
  plain.compressor = parse_compressor("none");
  StepSimulator simulator(pair, {.workers = 2 * least_ranks(strategy.method.plan(strategy.overlap))});
  for (const double factor : {1.0, 1 - profile.uncertainty, 1 + profile.uncertainty})
    simulator.run(timeline, plain, factor);
  return simulator.bucket_sizes();
}

}  // namespace

SimulationNeed simulation_need(const World& world, const StepTimeline& timeline, const TrainingStrategy& strategy) {
  if (strategy.algorithm.is_vendor()) return {};  // a formula
  if (strategy.algorithm.concurrent()) {
    const Flights flights = flights_of(world, timeline, strategy);
    return {flights.transfers, flights.bytes};
  }
  SimulationNeed most;
  const auto add = [&](const AlgorithmChoice& travels, const Shape& shape) {
    const std::int64_t need = bytes_of_plan(*travels.algorithm, shape) + bytes_of_times(world, shape);
    if (need > most.bytes) most = {shape.transfers, need};
  };
  if (strategy.compressor.both_sides) {
    const AlgorithmChoice direct = scattered_directly();
    add(direct, direct.algorithm->shape({.world = world, .segments = 1, .parameters = direct.parameters}));
  }
  const std::int64_t bytes = timeline.all_elements() * kFloat;
  for (const AlgorithmChoice& choice : strategy.algorithm.choices()) {
    const AlgorithmChoice travels = scheduled(choice, strategy);
    const Shape shape = travels.algorithm->shape(
        {.world = world, .segments = travels.segments(world, bytes), .parameters = travels.parameters});
    add(travels, shape);
  }
  return most;
}

int workers_that_fit(const World& world, const StepTimeline& timeline, const TrainingStrategy& strategy,
                     std::int64_t bytes) {
  // Full nodes only, which suit every algorithm that groups them.
  const auto with_nodes = [&](int nodes) {
    World smaller = world;
    smaller.workers = nodes * world.group;
    if (world.servers > 0)
      smaller.servers =
          static_cast<int>(std::max<std::int64_t>(1, std::int64_t{world.servers} * smaller.workers / world.workers));
    return smaller;
  };
  int fits = 0, too_many = std::max(1, world.workers / world.group);
  while (too_many - fits > 1) {
    const int middle = fits + (too_many - fits) / 2;
    (simulation_need(with_nodes(middle), timeline, strategy).bytes <= bytes ? fits : too_many) = middle;
  }
  return fits * world.group;
}

namespace {

Seconds schedule_time(const AlgorithmChoice& algorithm, const World& world, int segments) {
  const Shape shape =
      algorithm.algorithm->shape({.world = world, .segments = segments, .parameters = algorithm.parameters});
  const auto transfers = static_cast<double>(shape.transfers);
  if (shape.ranges) return kPerTransferOfRanges * transfers;
  if (!shape.carried || shape.runs == 0) return kPerTransfer * transfers;
  return kPerTransferInRun * transfers + kPerRun * static_cast<double>(shape.runs);
}

}  // namespace

Seconds simulation_time(const Profile& profile, const World& world, const StepTimeline& timeline,
                        const TrainingStrategy& strategy) {
  if (strategy.algorithm.is_vendor() || !strategy.method.division.none()) return kSmallStep;
  if (!strategy.method.in_lockstep()) return grain_of(world, timeline, strategy).time * 3;
  const double learning = strategy.fusion.fusion->learns ? 2 : 1;
  if (strategy.algorithm.concurrent()) {
    // Every worker's gradients go to the servers and come back, each message in whole pieces and one that is not.
    const double bytes = 2.0 * world.workers * static_cast<double>(timeline.all_elements() * kFloat);
    const double pieces = static_cast<double>(flights_of(world, timeline, strategy).transfers) +
                          bytes / static_cast<double>(MessageFlow::kTurn);
    return kSmallStep + kPerPiece * (3 * learning * pieces);
  }
  std::map<std::pair<std::string, int>, Seconds> known;
  Seconds sum = kSmallStep;
  for (const std::int64_t elements : bucket_sizes(profile, world, timeline, strategy)) {
    const std::int64_t bytes = elements * kFloat;
    const AlgorithmChoice travels = scheduled(strategy.algorithm.at(bytes), strategy);
    const int segments = travels.segments(world, bytes);
    const auto [time, added] = known.try_emplace({travels.text(), segments});
    if (added) time->second = schedule_time(travels, world, segments);
    if (added && strategy.compressor.both_sides) time->second += schedule_time(scattered_directly(), world, 1);
    sum += time->second;
  }
  return sum;
}

}  // namespace hbench
