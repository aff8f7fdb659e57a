#pragma once

/// Runs that were measured for a question of their own: both sides of `hbench track pair`, and in older
/// databases the launches of `hbench tune`.

#include <map>
#include <string>

namespace hbench {

/// Their labels.
inline constexpr const char* kTuningLabel = "tuning";
inline constexpr const char* kPairLabel = "pair";

/// Whether a run with these labels is a trial: no answer where another run has one, and no baseline of others.
inline bool is_trial(const std::map<std::string, std::string>& labels) {
  return labels.contains(kTuningLabel) || labels.contains(kPairLabel);
}

}  // namespace hbench
