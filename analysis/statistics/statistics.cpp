#include "analysis/statistics/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace hbench {
namespace {

/// Variance of an estimate from n normal values, times n and over their variance: at most, for every n.
constexpr double kOfMedian = std::numbers::pi / 2;
constexpr double kOfHodgesLehmann = std::numbers::pi / 3;
/// The difference of two runs has the variance of both.
constexpr double kRepeat = 2;
constexpr double kNormal = 1.959964;

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value / static_cast<double>(values.size());
  return sum;
}

double variance(std::span<const double> values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return sum / static_cast<double>(values.size() - 1);
}

/// The median of the means of all pairs of values, each with itself too.
double hodges_lehmann(std::span<const double> values) {
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t k = i; k < values.size(); ++k) means.push_back((values[i] + values[k]) / 2);
  return median(std::move(means));
}

/// Squared standard error of the logarithm of a launch's median, from the spread of its iterations; 0 where a single
/// iteration tells nothing.
double within_launch(Launch values) {
  if (values.size() < 2) return 0;
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  const auto place = static_cast<std::size_t>(std::max(std::round((n + 1) / 2 - kNormal * std::sqrt(n / 4)), 1.0));
  const double error = std::log(values[values.size() - place] / values[place - 1]) / (2 * kNormal);
  return error * error;
}

double mean_within(const Launches& launches) {
  double sum = 0;
  for (const Launch& launch : launches) sum += within_launch(launch);
  return sum / static_cast<double>(launches.size());
}

std::vector<double> log_medians(const Launches& launches) {
  std::vector<double> logarithms;
  for (const Launch& launch : launches) logarithms.push_back(std::log(median(launch)));
  return logarithms;
}

Interval around(double ratio, double log_half_width) {
  return {ratio * std::exp(-log_half_width), ratio * std::exp(log_half_width)};
}

/// One side of an unpaired comparison: variance of its estimate, and the degrees of freedom of that.
struct SpreadOfSide {
  double variance = 0;
  double degrees = 0;
};

/// A single launch is taken to scatter as those of the other side do.
SpreadOfSide side_of(const Launches& launches, const Launches& other) {
  const std::vector<double> values = log_medians(launches.size() > 1 ? launches : other);
  const double spread = std::max(variance(values), mean_within(launches));
  return {kOfMedian * spread / static_cast<double>(launches.size()), static_cast<double>(values.size() - 1)};
}

}  // namespace

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

double student_t(int degrees) {
  // Fisher and Yates, "Statistical Tables", 1963, table III.
  constexpr std::array kTable{12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
                              2.2010,  2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860};
  if (degrees <= static_cast<int>(kTable.size())) return kTable.at(static_cast<std::size_t>(degrees - 1));
  // Cornish and Fisher's expansion, here right to 3 places.
  const double z = kNormal, n = degrees;
  return z + (z * z * z + z) / (4 * n) + (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

RatioEstimate paired_ratio(const std::vector<PairedLaunch>& pairs) {
  if (pairs.size() == 1) return {.ratio = median(pairs.front().baseline) / median(pairs.front().own)};
  std::vector<double> logarithms;
  double within = 0;
  for (const PairedLaunch& pair : pairs) {
    logarithms.push_back(std::log(median(pair.baseline) / median(pair.own)));
    within += within_launch(pair.baseline) + within_launch(pair.own);
  }
  const auto count = static_cast<double>(pairs.size());
  // Few launches may agree by luck, but not to better than their own iterations tell.
  const double spread = std::max(variance(logarithms), within / count);
  const double half =
      student_t(static_cast<int>(pairs.size()) - 1) * std::sqrt(kRepeat * kOfHodgesLehmann * spread / count);
  RatioEstimate estimate{.ratio = std::exp(hodges_lehmann(logarithms))};
  estimate.interval = around(estimate.ratio, half);
  estimate.in_words = fmt::format("95 % interval for a repeat, {} paired launches", pairs.size());
  return estimate;
}

RatioEstimate unpaired_ratio(const Launches& baseline, const Launches& own) {
  RatioEstimate estimate{.ratio = median_of_launches(baseline) / median_of_launches(own)};
  if (baseline.size() == 1 && own.size() == 1) return estimate;
  const SpreadOfSide above = side_of(baseline, own), below = side_of(own, baseline);
  const double sum = above.variance + below.variance;
  // Welch and Satterthwaite.
  const double degrees =
      sum > 0 ? sum * sum /
                    (above.variance * above.variance / above.degrees + below.variance * below.variance / below.degrees)
              : 1;
  const double half = student_t(std::max(static_cast<int>(degrees), 1)) * std::sqrt(kRepeat * sum);
  estimate.interval = around(estimate.ratio, half);
  estimate.in_words = fmt::format("95 % interval for a repeat, {} launches against {} of the baseline, unpaired",
                                  own.size(), baseline.size());
  return estimate;
}

Interval repeat_interval(std::span<const double> launches) {
  std::vector<double> logarithms;
  for (const double value : launches) logarithms.push_back(std::log(value));
  const double middle = median({launches.begin(), launches.end()});
  if (launches.size() < 2) return {middle, middle};
  const auto count = static_cast<double>(launches.size());
  const double error = std::sqrt(kRepeat * kOfMedian * variance(logarithms) / count);
  return around(middle, student_t(static_cast<int>(launches.size()) - 1) * error);
}

Interval mean_interval(std::span<const double> launches) {
  const double middle = mean(launches);
  if (launches.size() < 2) return {middle, middle};
  const double error = std::sqrt(variance(launches) / static_cast<double>(launches.size()));
  const double half = student_t(static_cast<int>(launches.size()) - 1) * error;
  return {middle - half, middle + half};
}

}  // namespace hbench
