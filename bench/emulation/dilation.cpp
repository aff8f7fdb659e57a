#include "bench/emulation/dilation.hpp"

#include <algorithm>
#include <array>

#include "workloads/simulation/step_simulator.hpp"

namespace hbench {
namespace {

/// Time of a core, measured with 16 ranks on the two cores of a server (2026).
struct CoreTimes {
  double of_a_byte;  ///< from one rank to another through MPI, TCP and bridges, filled, added up and compared
  Seconds of_a_look;
};
constexpr CoreTimes kRings{1.2e-9, Seconds(12e-6)};
/// The times with servers, to which all ranks send at once: hundreds of messages are in flight, wait for each other and
/// are looked at.
constexpr CoreTimes kServers{2.5e-9, Seconds(25e-6)};

const CoreTimes& core_times(bool servers) { return servers ? kServers : kRings; }
/// What one rank sends to another at most, however idle the cores are: it sleeps between two looks, and gets no further
/// meanwhile than what sockets hold. Rings of 4 ranks reached 96 to 100 MB/s where links would have carried 125, and
/// 99.5 % of links of 89 (two cores of a server, 2026).
constexpr BytesPerSecond kOfARank{90e6};
/// So much of the cores while bytes travel, and over a step.
constexpr double kPeak = 0.7, kAverage = 0.5;
/// From a message's arrival until a rank that sleeps has noticed it, and its answer is on its way: no less than this,
/// and no less than lets all ranks look with such a share of the cores.
constexpr Seconds kFloor{500e-6};
constexpr double kLooking = 0.2;
/// Of a step: by so much this machine may lengthen it.
constexpr double kNegligible = 0.01;

StepTimes simulated(const Profile& profile, const EmulatedStep& step) {
  return StepSimulator(profile, step.world).run(step.timeline, step.strategy);
}

/// The cluster with what a rank can send here, in the cluster's time.
Profile limited(Profile profile, BytesPerSecond of_a_rank, Seconds floor) {
  profile.local_rate = std::min(profile.local_rate, of_a_rank);
  profile.local_factors.clear();
  const double on_a_node = of_a_rank.value * profile.gpus_per_node;
  if (const double node = profile.node_rate().value; node > on_a_node)
    profile.line_rate = profile.line_rate * (on_a_node / node);
  const BytesPerSecond stream = of_a_rank / (profile.streams * profile.protocol_efficiency);
  profile.stream_cap = profile.stream_cap.value > 0 ? std::min(profile.stream_cap, stream) : stream;
  for (Seconds* latency : {&profile.local_latency, &profile.network_latency}) *latency = std::max(*latency, floor);
  profile.local_low_latency = profile.network_low_latency = Seconds(0);
  return profile;
}

Seconds message_floor(const SharedCores& shared) {
  return std::max(kFloor, core_times(shared.servers).of_a_look * shared.ranks / (kLooking * shared.cores));
}

SharedCores shared_by(const EmulatedStep& step, int cores) {
  return {step.world.ranks(), cores, step.strategy.algorithm.uses_servers()};
}

double seconds_per_byte(const EmulatedStep& step) {
  return core_times(step.strategy.algorithm.uses_servers()).of_a_byte;
}

}  // namespace

Seconds step_on_machine(const EmulatedStep& step, double dilation, int cores) {
  const BytesPerSecond of_cores(kPeak * cores / seconds_per_byte(step) / step.world.ranks());
  const Seconds floor = message_floor(shared_by(step, cores)) / dilation;
  return simulated(limited(step.profile, std::min(of_cores, kOfARank) * dilation, floor), step).step;
}

double choose_dilation(const EmulatedStep& step, int cores) {
  constexpr std::array kMantissas{1.0, 1.5, 2.0, 3.0, 5.0, 7.0};
  constexpr double kMost = 1e5;
  const StepTimes ideal = simulated(step.profile, step);
  const Moved of_a_worker = ideal.sent.value();
  const double bytes = (of_a_worker.within + of_a_worker.between) * step.world.workers;
  const double busy = bytes * seconds_per_byte(step) / (cores * kAverage);
  for (double decade = 1; decade < kMost; decade *= 10)
    for (const double mantissa : kMantissas) {
      const double dilation = mantissa * decade;
      if (dilation * ideal.step.value < busy) continue;
      if (step_on_machine(step, dilation, cores).value <= (1 + kNegligible) * ideal.step.value) return dilation;
    }
  return kMost;
}

Seconds emulated_polling(Seconds latency, double dilation, const SharedCores& shared) {
  constexpr Seconds kMost{2e-3};
  const Seconds least = message_floor(shared);
  return std::clamp(latency * dilation / 2, least, std::max(least, kMost));
}

}  // namespace hbench
