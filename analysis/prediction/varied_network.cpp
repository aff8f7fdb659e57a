#include "analysis/prediction/varied_network.hpp"

namespace hbench {

Profile with_network_rate(Profile profile, BytesPerSecond per_node) {
  profile.line_rate = per_node / (profile.nics * profile.protocol_efficiency);
  profile.stream_cap = profile.tree_rate = BytesPerSecond(0);
  profile.stream_factor = 1;
  return profile;
}

const SimulatedStep& VariedNetwork::step(const Case& asked, BytesPerSecond per_node) {
  const std::pair key(asked.key(), per_node.value);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  if (!runner_ || per_node != last_rate_) {
    for (const auto& [name, profile] : stated_.profiles)
      varied_.profiles.at(name) = with_network_rate(profile, per_node);
    runner_.emplace(varied_, stop_, true);
    last_rate_ = per_node;
  }
  return known_.emplace(key, runner_->step(asked)).first->second;
}

}  // namespace hbench
