// What hbench's simulator says of a ring all-reduce on a flat network, and how long it takes to say it: one line for
// `tests/simgrid/compare`. It names the schedule too, so that both simulate the same messages.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "collectives/network/simulator.hpp"

namespace hbench {
namespace {

constexpr int kRepetitions = 5;

struct Outcome {
  double simulated;
  double wall;
};

/// Everything anew, as in a program that simulates once.
Outcome simulate_once(const Profile& profile, int ranks, std::int64_t elements) {
  const auto begin = std::chrono::steady_clock::now();
  const World world{.workers = ranks};
  Network network(profile, world);
  const SimulationPlan plan(network.layout(), parse_algorithm("ring").runs(world, 1));
  const double simulated = simulate(network, plan, {}, elements).value;
  return {simulated, seconds_since(begin)};
}

int run(int ranks, std::int64_t bytes, double latency, double rate) {
  Profile profile;
  profile.gpus_per_node = 1;
  profile.network_latency = Seconds(latency);
  profile.line_rate = BytesPerSecond(rate);
  std::vector<Outcome> outcomes;
  for (int i = 0; i < kRepetitions; ++i)
    outcomes.push_back(simulate_once(profile, ranks, bytes / static_cast<std::int64_t>(sizeof(float))));
  std::ranges::sort(outcomes, {}, &Outcome::wall);
  const Outcome& median = outcomes[kRepetitions / 2];
  fmt::print("{{\"simulated\": {:.12g}, \"wall\": {:.6g}, \"rounds\": {}}}\n", median.simulated, median.wall,
             parse_algorithm("ring").algorithm->shape({.world = {.workers = ranks}}).rounds);
  return 0;
}

}  // namespace
}  // namespace hbench

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: {} RANKS BYTES LATENCY_SECONDS BYTES_PER_SECOND\n", argv[0]);
    return 2;
  }
  return hbench::run(std::atoi(argv[1]), std::atoll(argv[2]), std::atof(argv[3]), std::atof(argv[4]));
}
