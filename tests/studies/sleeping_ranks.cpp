// How far simulated steps of each training method are from those of real ranks whose compute is replaced by sleeping:
//
//   build/ci/tests/studies/sleeping_ranks [METHOD ...]
//
// Ranks are threads with the engine, and a model of 57,000 parameters, so that messages take next to nothing and what
// is compared is who waits for whom: all ranks alike, and rank 1 slower than the others. The throughput of all ranks,
// in percent of ideal speed, and how far the simulated is from it. Ends with 1 where a method is more than a tenth off.

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "collectives/base/table.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "workloads/engine/replay.hpp"
#include "workloads/simulation/free_run.hpp"
#include "workloads/simulation/step_simulator.hpp"

namespace hbench {
namespace {

constexpr double kSlower = 2;
constexpr double kMostApart = 0.1;
/// Warm-up and timed steps are whole cycles of each method below.
constexpr int kWarmup = 4, kTimed = 12;

std::vector<std::string> all_methods() {
  return {"synchronous",   "zero:1", "zero:2",   "local-sgd:4", "post-local-sgd:2:4", "diloco:4", "diloco:4:2:1",
          "decentralized", "gossip", "async-ps", "ssp:2",       "1-bit-adam:2",       "qadam:2"};
}

/// 60 ms, and gradients that become ready on the way.
StepTimeline timeline(double slower = 1) {
  StepTimeline timeline{.batch = 1, .forward = Seconds(0.020 * slower), .backward = Seconds(0.040 * slower)};
  constexpr std::int64_t kElements[] = {10'000, 20'000, 5'000, 2'000, 20'000};
  double ready = 0;
  for (const std::int64_t elements : kElements)
    timeline.gradients.push_back({fmt::format("{:.0f}", ready), elements, Seconds(0.008 * slower * ++ready)});
  return timeline;
}

/// A node whose links take nothing to speak of.
Profile one_node(int ranks) {
  Profile profile;
  profile.name = "threads";
  profile.gpus_per_node = ranks;
  profile.local_latency = Seconds(5e-6);
  profile.local_rate = BytesPerSecond(4e9);
  profile.memory_rate = BytesPerSecond(1e10);
  profile.network_latency = Seconds(5e-6);
  profile.line_rate = BytesPerSecond(4e9);
  return profile;
}

TrainingStrategy strategy_of(const std::string& method, int ranks) {
  TrainingStrategy strategy{.method = parse_method(method), .fusion = parse_fusion("none")};
  const StepPlan plan = strategy.method.plan(true);
  const bool serves = std::ranges::count(plan.tasks, Among::servers, &Task::among) > 0;
  strategy.algorithm = parse_algorithm_rule(serves ? "ps" : "ring");
  if (!serves) return strategy;
  strategy.placement = &find_entry(placements(), "sliced", "placement");
  strategy.servers = ranks;
  strategy.server_mode = ServerMode::colocated;
  return strategy;
}

/// Steps of all ranks in a second, by those of ranks that nothing holds up.
double measured_speed(const TrainingStrategy& strategy, const World& world, double slower) {
  TrainingRequest request{.world = world, .strategy = strategy};
  request.warmup_steps = kWarmup;
  request.steps = kTimed;
  ReplayRequest replayed{.timeline = timeline()};
  replayed.slower.assign(static_cast<std::size_t>(world.workers), 1);
  replayed.slower.at(1) = slower;
  std::vector<double> times(static_cast<std::size_t>(world.workers));
  std::vector<int> steps(times.size());
  {
    const std::vector<std::unique_ptr<Endpoint>> endpoints = make_thread_endpoints(world.ranks(), {});
    std::vector<std::jthread> ranks;
    for (std::size_t rank = 0; rank < endpoints.size(); ++rank)
      ranks.emplace_back([&, rank] {
        replay(request, replayed, *endpoints[rank], [&, rank](const StepReport& step) {
          if (step.warmup) return;
          times.at(rank) += step.step.value;
          ++steps.at(rank);
        });
      });
  }
  double all = 0;
  for (std::size_t rank = 0; rank < times.size(); ++rank)
    if (steps[rank] > 0) all += steps[rank] / times[rank];
  return all * timeline().step().value / world.workers;
}

double simulated_speed(const TrainingStrategy& strategy, const World& world, double slower) {
  const Profile profile = one_node(world.workers);
  const double ideal = timeline().step().value;
  if (strategy.method.in_lockstep())
    return ideal / StepSimulator(profile, world).run(timeline(slower), strategy).step.value;
  Network network(profile, world);
  const StepTimeline passes = timeline();
  const RankWalk::Request request{.profile = profile, .timeline = passes, .strategy = strategy, .world = world};
  const auto late = [slower](Rank rank) { return rank == 1 ? slower : 1.0; };
  return ideal / FreeRun(request, network, late, {}).run().step.value;
}

int compare(const std::vector<std::string>& methods) {
  int wrong = 0;
  std::vector<double> apart;
  fmt::print("method              ranks  slower  measured  simulated    apart\n");
  for (const std::string& method : methods)
    for (const int ranks : {2, 4, 8})
      for (const double slower : {1.0, kSlower}) {
        const TrainingStrategy strategy = strategy_of(method, ranks);
        const World world = strategy.world(ranks, ranks);
        const double measured = measured_speed(strategy, world, slower);
        const double simulated = simulated_speed(strategy, world, slower);
        apart.push_back(std::abs(simulated / measured - 1));
        if (apart.back() > kMostApart) ++wrong;
        fmt::print("{:<18}  {:>5}  {:>6}  {:>6.1f} %  {:>7.1f} %  {:>+5.1f} %\n", method, ranks, slower, 100 * measured,
                   100 * simulated, 100 * (simulated / measured - 1));
        std::fflush(stdout);
      }
  fmt::print("{:.1f} % apart on average, {:.1f} % at most\n",
             100 * std::accumulate(apart.begin(), apart.end(), 0.0) / static_cast<double>(apart.size()),
             100 * *std::ranges::max_element(apart));
  return wrong > 0 ? 1 : 0;
}

}  // namespace
}  // namespace hbench

int main(int count, char** texts) {
  const std::vector<std::string> asked(texts + 1, texts + count);
  return hbench::compare(asked.empty() ? hbench::all_methods() : asked);
}
