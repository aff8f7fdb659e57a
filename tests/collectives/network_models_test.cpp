// Rings and parameter servers run under two models of one network: how far these differ on the same messages.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "collectives/base/file.hpp"
#include "collectives/network/concurrent_collectives.hpp"
#include "tests/collectives/clusters.hpp"
#include "tests/collectives/profile_text.hpp"

namespace hbench::network_models_test {
namespace {

using namespace ::hbench::support;

Profile load(const std::string& name) {
  const std::string file = name + ".toml";
  return parse_profile(read_file(kProfiles / file), file, kProfiles / "gpus");
}

/// Seconds of some collectives at once whose messages travel in pieces on connections.
double on_connections(const Profile& profile, const Schedule& schedule, std::int64_t elements, int buckets = 1) {
  Network network(profile, schedule.world);
  ConcurrentCollectives collectives(network, kPlain);
  for (int bucket = 0; bucket < buckets; ++bucket)
    collectives.begin(prepared(network, to_runs(schedule), elements), Seconds(0));
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

/// Calls `use` with a ring and with servers on every node, on clusters of all kinds.
template <class Use>
void on_clusters(Use use) {
  for (const char* name : {"hkbu-10gbe", "uber-p100-25gbe-tcp", "aws-p3-25gbe", "aws-p3dn-tcp", "azure-nd96asr-v4"}) {
    Profile profile = load(name);
    profile.server_rate = BytesPerSecond(0);  // which the model of rings does not have
    for (const int nodes : {2, 16}) {
      SCOPED_TRACE(fmt::format("{}, {} nodes", name, nodes));
      const int workers = nodes * profile.gpus_per_node;
      const World servers{.workers = workers, .servers = nodes, .colocated = true, .group = profile.gpus_per_node};
      use(profile, algorithm("ring").build({.world = {.workers = workers}}), algorithm("ps").build({.world = servers}));
    }
  }
}

constexpr std::int64_t kMebibyte = 1 << 18;  // in elements

// So a comparison of the two has no error of their networks in it.
TEST(NetworkModels, AgreeOnTheMessagesOfOneCollective) {
  on_clusters([](const Profile& profile, const Schedule& ring, const Schedule& servers) {
    for (const std::int64_t mib : {1, 25, 100}) {
      EXPECT_NEAR(apart(profile, ring, mib * kMebibyte), 0, 1e-3) << mib << " MiB";
      EXPECT_NEAR(apart(profile, servers, mib * kMebibyte), 0, 1e-3) << mib << " MiB";
    }
  });
}

// On a stream one bucket follows the other. On connections they share links, which gains a ring its latencies alone:
// there is no time for which its links idle. Servers gain the other direction of theirs too.
TEST(NetworkModels, DifferOnSeveralBucketsByWhatIdlesInOne) {
  constexpr int kBuckets = 4;
  on_clusters([](const Profile& profile, const Schedule& ring, const Schedule& servers) {
    const auto gain = [&](const Schedule& schedule, std::int64_t elements) {
      return on_connections(profile, schedule, elements, kBuckets) / (kBuckets * time_of(profile, schedule, elements));
    };
    const std::int64_t elements = 25 * kMebibyte;
    // What does not grow with the elements is latency.
    const double latency = 2 * time_of(profile, ring, elements) - time_of(profile, ring, 2 * elements);
    const double transfer = 1 - latency / time_of(profile, ring, elements);
    EXPECT_LE(gain(ring, elements), 1 + 1e-3);
    EXPECT_GE(gain(ring, elements), transfer - 1e-3);
    EXPECT_LE(gain(servers, elements), 1 + 1e-3);
    EXPECT_GE(gain(servers, elements), 0.5);
  });
}

}  // namespace
}  // namespace hbench::network_models_test
