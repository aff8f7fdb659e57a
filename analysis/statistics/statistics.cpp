#include "analysis/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hbench {

std::uint64_t Random::next() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::size_t Random::below(std::size_t n) { return static_cast<std::size_t>(((next() >> 32) * n) >> 32); }

double binomial_tail(std::size_t successes, std::size_t trials, double chance) {
  double tail = 0;
  for (std::size_t k = successes; k <= trials; ++k) {
    const auto n = static_cast<double>(trials), i = static_cast<double>(k);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) + i * std::log(chance) +
                     (n - i) * std::log1p(-chance));
  }
  return std::min(1.0, tail);
}

double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double position = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), at, values.end());
  if (at + 1 == values.end()) return *at;
  return std::lerp(*at, *std::min_element(at + 1, values.end()), position - std::floor(position));
}

ErrorSizes error_sizes(std::vector<double> errors) {
  ErrorSizes sizes;
  for (double& error : errors) {
    error = std::fabs(error);
    sizes.mean += error;
    sizes.largest = std::max(sizes.largest, error);
  }
  sizes.mean /= static_cast<double>(errors.size());
  sizes.median = median(std::move(errors));
  return sizes;
}

double median_of_launches(const Launches& launches) {
  std::vector<double> medians;
  for (const Launch& launch : launches) medians.push_back(median(launch));
  return median(std::move(medians));
}

}  // namespace hbench
