#pragma once

/// What is done to a rank on purpose, to see what a job makes of it.

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/units.hpp"

namespace hbench {

/// Equal on all ranks of a job.
struct PlantedFault {
  Rank rank = 0;
  std::optional<Seconds> delay = {};  ///< for which its backward pass waits; none: its process is killed before it
  int from = 0, until = kForEver;     ///< steps of the job, the last one too

  static constexpr int kForEver = std::numeric_limits<int>::max();

  bool kills() const { return !delay; }
  bool is_due(Rank on, int step) const { return on == rank && step >= from && step <= until; }
  /// Does it to the rank that calls.
  void strike() const;
  /// `kill:rank=2@step=50`, `delay:rank=1:20 ms@step=10..`
  std::string text() const;
  friend bool operator==(const PlantedFault&, const PlantedFault&) = default;
};

/// `kill:rank=R@step=S`, `delay:rank=R:TIME@step=S..`, `delay:rank=R:TIME@step=S..T`, with commas between several.
/// \throws Error (usage) that names `flag`.
std::vector<PlantedFault> parse_faults(std::string_view text, std::string_view flag);

}  // namespace hbench
