#include "analysis/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/statistics/random.hpp"

namespace hbench {
namespace {

double median_of_redrawn(const Launch& launch, Random& random) {
  Launch drawn;
  for (std::size_t i = 0; i < launch.size(); ++i) drawn.push_back(launch[random.below(launch.size())]);
  return median(std::move(drawn));
}

}  // namespace

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

Interval bootstrap_ratio(const Launch& above, const Launch& below, const Bootstrap& bootstrap) {
  Random random(bootstrap.seed);
  std::vector<double> ratios;
  for (int i = 0; i < bootstrap.draws; ++i) {
    const double numerator = median_of_redrawn(above, random);
    ratios.push_back(numerator / median_of_redrawn(below, random));
  }
  return {percentile(ratios, 0.025), percentile(ratios, 0.975)};
}

}  // namespace hbench
