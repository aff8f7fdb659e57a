// Rings and parameter servers run under two models of one network: how far these differ on the same messages.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "collectives/base/file.hpp"
#include "collectives/network/concurrent_collectives.hpp"
#include "tests/collectives/clusters.hpp"
#include "tests/collectives/profile_text.hpp"

namespace hbench {
namespace {

using namespace ::hbench::testing;

Profile load(const std::string& name) {
  const std::string file = name + ".toml";
  return parse_profile(read_file(kProfiles / file), file, kProfiles / "gpus");
}

/// Seconds of one collective whose messages travel in pieces on connections.
double on_connections(const Profile& profile, const Schedule& schedule, std::int64_t elements) {
  Network network(profile, schedule.world);
  ConcurrentCollectives collectives(network, kPlain);
  collectives.begin(SimulationPlan(network.layout(), to_runs(schedule)), elements, Seconds(0));
  double at = 0;
  while (!collectives.idle()) {
    at = collectives.next_event().value;
    collectives.advance();
  }
  return at;
}

/// The logarithm of what one model takes over what the other takes.
double apart(const Profile& profile, const Schedule& schedule, std::int64_t elements) {
  return std::log(on_connections(profile, schedule, elements) / time_of(profile, schedule, elements));
}

// So a comparison of the two has no error of their networks in it.
TEST(NetworkModels, AgreeOnTheMessagesOfOneCollective) {
  for (const char* name : {"hkbu-10gbe", "uber-p100-25gbe-tcp", "aws-p3-25gbe", "aws-p3dn-tcp", "azure-nd96asr-v4"}) {
    Profile profile = load(name);
    profile.server_rate = BytesPerSecond(0);  // which the model of rings does not have
    for (const int nodes : {2, 16})
      for (const std::int64_t mib : {1, 25, 100}) {
        SCOPED_TRACE(fmt::format("{}, {} nodes, {} MiB", name, nodes, mib));
        const int workers = nodes * profile.gpus_per_node;
        const World servers{.workers = workers, .servers = nodes, .colocated = true, .group = profile.gpus_per_node};
        const std::int64_t elements = mib << 18;
        EXPECT_NEAR(apart(profile, algorithm("ring").build({.world = {.workers = workers}}), elements), 0, 1e-3);
        EXPECT_NEAR(apart(profile, algorithm("ps").build({.world = servers}), elements), 0, 1e-3);
      }
  }
}

}  // namespace
}  // namespace hbench
