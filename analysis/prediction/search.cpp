#include "analysis/prediction/search.hpp"

#include <cmath>

namespace hbench {

std::optional<BytesPerSecond> least_rate(const std::function<bool(BytesPerSecond)>& meets) {
  if (!meets(kUnlimited)) return std::nullopt;
  if (meets(kLeastRate)) return kLeastRate;
  double too_slow = kLeastRate.value, enough = kUnlimited.value;
  while (enough > too_slow * (1 + kSearchTolerance)) {
    const double middle = std::sqrt(too_slow * enough);
    (meets(BytesPerSecond(middle)) ? enough : too_slow) = middle;
  }
  return BytesPerSecond(enough);
}

}  // namespace hbench
