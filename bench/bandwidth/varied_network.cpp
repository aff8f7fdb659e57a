#include "bench/bandwidth/varied_network.hpp"

#include <algorithm>
#include <cmath>

namespace hbench {

Profile with_network_rate(Profile profile, BytesPerSecond per_node) {
  profile.line_rate = per_node / (profile.nics * profile.protocol_efficiency);
  profile.stream_cap = BytesPerSecond(0);
  profile.stream_factor = 1;
  return profile;
}

const SimulatedStep& VariedNetwork::step(const Case& asked, BytesPerSecond per_node) {
  const std::pair key(asked.key(), per_node.value);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  if (!runner_ || per_node != last_rate_) {
    for (const auto& [name, profile] : stated_.profiles)
      varied_.profiles.at(name) = with_network_rate(profile, per_node);
    runner_.emplace(varied_, stop_);
    last_rate_ = per_node;
  }
  return known_.emplace(key, runner_->step(asked)).first->second;
}

bool surely_faster(const SimulatedStep& step, const SimulatedStep& other) {
  const auto share = [](const SimulatedStep& each) { return each.times.communication / each.times.step; };
  const double least = std::exp(kModelError.half_width(std::max(share(step), share(other))));
  return step.times.step * least < other.times.step && step.fast * least < other.fast && step.slow * least < other.slow;
}

}  // namespace hbench
