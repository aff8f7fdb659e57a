#pragma once

/// Searching a rate: bisection on logarithms. Pure.

#include <functional>
#include <optional>

#include "collectives/base/units.hpp"

namespace hbench {

/// Between these everything is searched: 1 kbit/s, the slowest network that a profile may have, and a rate at which no
/// message takes any time.
inline constexpr BytesPerSecond kLeastRate(125);
inline constexpr BytesPerSecond kUnlimited(1e15);
/// What is found is at most so much, relatively, above the least rate.
inline constexpr double kSearchTolerance = 0.005;

/// The least rate that `meets` something which faster networks meet as well; `kLeastRate` where all do, none where not
/// even `kUnlimited` does. The same rates are tried in the same order whatever is asked, so that answers can be kept.
std::optional<BytesPerSecond> least_rate(const std::function<bool(BytesPerSecond)>& meets);

}  // namespace hbench
