#include "analysis/statistics/binomial.hpp"

#include <algorithm>
#include <cmath>

namespace hbench {

double binomial_tail(std::size_t successes, std::size_t trials, double chance) {
  double tail = 0;
  for (std::size_t k = successes; k <= trials; ++k) {
    const auto n = static_cast<double>(trials), i = static_cast<double>(k);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) + i * std::log(chance) +
                     (n - i) * std::log1p(-chance));
  }
  return std::min(1.0, tail);
}

}  // namespace hbench
