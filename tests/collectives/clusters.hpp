#pragma once

/// Small clusters with round figures, whose times can be worked out by hand.

#include <memory>
#include <string_view>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/table.hpp"
#include "collectives/network/concurrent_collectives.hpp"
#include "collectives/network/simulator.hpp"

namespace hbench::support {

/// One GPU per node; 1 ms per message, 4 MB/s: 1000 elements per millisecond. Reductions are free.
inline Profile round_cluster() {
  Profile profile;
  profile.local_latency = Seconds(1e-4);
  profile.local_rate = BytesPerSecond(4e7);
  profile.network_latency = Seconds(1e-3);
  profile.line_rate = BytesPerSecond(4e6);
  return profile;
}

/// The same without latencies: what is left is bandwidth.
inline Profile without_latency(Profile profile) {
  profile.local_latency = profile.network_latency = Seconds(0);
  return profile;
}

/// float32 on the wire, as `none`.
inline constexpr Encoding kPlain{};
/// Half the bytes for nothing.
inline const CompressorChoice kHalves = parse_compressor("fp16");
inline const Encoding kHalf{.codec = kHalves.codec.get(), .memory_traffic = 0};

inline const Algorithm& algorithm(std::string_view name) { return find_entry(algorithms(), name, "algorithm"); }

inline std::shared_ptr<const ConcurrentPlan> prepared(const Network& network, const RunSchedule& schedule,
                                                      std::int64_t elements) {
  return std::make_shared<const ConcurrentPlan>(network.layout(), SimulationPlan(network.layout(), schedule), elements);
}

/// Seconds of one all-reduce on an idle network.
inline double time_of(const Profile& profile, const Schedule& schedule, std::int64_t elements,
                      const Encoding& encoding = kPlain) {
  Network network(profile, schedule.world);
  return simulate(network, schedule, encoding, elements).value;
}

inline double ring_time(const Profile& profile, int workers, std::int64_t elements, const Encoding& encoding = kPlain) {
  return time_of(profile, algorithm("ring").build({.world = {.workers = workers}}), elements, encoding);
}

inline double server_time(const Profile& profile, const World& world, std::int64_t elements) {
  return time_of(profile, algorithm("ps").build({.world = world}), elements);
}

}  // namespace hbench::support
