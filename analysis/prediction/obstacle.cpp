#include "analysis/prediction/obstacle.hpp"

#include <array>

#include "analysis/prediction/search.hpp"
#include "analysis/prediction/varied_network.hpp"

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
    Suspect{"the framework's cost on the host", [](Profile&, Case& asked) { asked.strategy.preset.clear(); }},
    Suspect{"stragglers", [](Profile& profile, Case&) { profile.straggler = 0; }},
    Suspect{"compute that communication slows", [](Profile& profile, Case&) { profile.overlap_slowdown = 0; }},
};

}  // namespace

Obstacle worst_obstacle(const Case& asked, const Catalog& catalog) {
  Obstacle worst;
  for (const Suspect& suspect : kSuspects) {
    Catalog other = catalog;
    Case without = asked;
    suspect.remove(other.profiles.at(asked.profile), without);
    const SimulatedStep step = VariedNetwork(other).step(without, kUnlimited);
    const double efficiency = step.times.alone / step.step();
    if (efficiency > worst.efficiency_without) worst = {std::string(suspect.words), efficiency};
  }
  return worst;
}

}  // namespace hbench
