#include "bench/worker/training_end.hpp"

#include <fmt/format.h>

#include "analysis/records/metrics.hpp"
#include "workloads/simulation/step_times.hpp"

namespace hbench {

void tell_end(Rank rank, const TrainingEnd& end, const Say& say) {
  const auto sample = [&](std::string metric, double value) {
    say(SamplesLine{rank, 0, std::move(metric), "1", false, 0, {value}});
  };
  if (end.consensus_distance) sample(std::string(metric::kConsensusDistance), *end.consensus_distance);
  if (!end.unseen.empty()) {
    const Staleness staleness = Staleness::of(end.unseen);
    sample(fmt::format("{}mean", metric::kStaleness), staleness.mean);
    sample(fmt::format("{}p95", metric::kStaleness), staleness.p95);
    sample(fmt::format("{}largest", metric::kStaleness), staleness.largest);
  }
  say(DoneLine{rank, fmt::format("{:016x}", end.digest)});
}

}  // namespace hbench
