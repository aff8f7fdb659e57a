#include "bench/worker/training_end.hpp"

#include <fmt/format.h>

#include "analysis/records/metrics.hpp"
#include "workloads/simulation/step_times.hpp"

namespace hbench {

void tell_end(Rank rank, const TrainingEnd& end, const Say& say) {
  const auto sample = [&](std::string metric, double value, const char* unit = "1") {
    say(SamplesLine{rank, 0, std::move(metric), unit, false, 0, {value}});
  };
  if (end.consensus_distance) sample(std::string(metric::kConsensusDistance), *end.consensus_distance);
  if (!end.unseen.empty())
    for (const auto& [name, value] : Staleness::of(end.unseen).parts())
      sample(fmt::format("{}{}", metric::kStaleness, name), value);
  if (end.sent) {
    sample(fmt::format("{}within", metric::kSent), end.sent->within, "B");
    sample(fmt::format("{}between", metric::kSent), end.sent->between, "B");
  }
  say(DoneLine{rank, fmt::format("{:016x}", end.digest)});
}

}  // namespace hbench
