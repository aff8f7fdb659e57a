#include "analysis/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "analysis/random.hpp"

namespace hbench {
namespace {

/// The launches, drawn with replacement, and within each drawn launch its iterations.
double median_of_redrawn(const Launches& launches, Random& random) {
  std::vector<double> medians;
  Launch drawn;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Launch& launch = launches[random.below(launches.size())];
    drawn.clear();
    for (std::size_t k = 0; k < launch.size(); ++k) drawn.push_back(launch[random.below(launch.size())]);
    medians.push_back(median(drawn));
  }
  return median(std::move(medians));
}

template <class Draw>
Interval interval_of(const Bootstrap& bootstrap, Draw draw) {
  Random random(bootstrap.seed);
  std::vector<double> values;
  for (int i = 0; i < bootstrap.draws; ++i) values.push_back(draw(random));
  return {percentile(values, 0.025), percentile(values, 0.975)};
}

}  // namespace

double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

double percentile(std::vector<double> values, double share) {
  assert(!values.empty());
  const double position = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), at, values.end());
  if (at + 1 == values.end()) return *at;
  return std::lerp(*at, *std::min_element(at + 1, values.end()), position - std::floor(position));
}

double median_of_launches(const Launches& launches) {
  std::vector<double> medians;
  for (const Launch& launch : launches) medians.push_back(median(launch));
  return median(std::move(medians));
}

Interval median_interval(const Launches& launches, const Bootstrap& bootstrap) {
  return interval_of(bootstrap, [&](Random& random) { return median_of_redrawn(launches, random); });
}

Interval ratio_interval(const Launches& above, const Launches& below, const Bootstrap& bootstrap) {
  return interval_of(bootstrap, [&](Random& random) {
    const double numerator = median_of_redrawn(above, random);
    return numerator / median_of_redrawn(below, random);
  });
}

}  // namespace hbench
