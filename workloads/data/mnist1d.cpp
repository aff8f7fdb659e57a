// The rule of MNIST-1D, in its steps and with its constants: a drawn digit, padded, stretched, moved, blurred by noise,
// tilted, and taken at 40 places.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include "workloads/data/dataset.hpp"

namespace hbench {
namespace {

constexpr int kPoints = 12, kLeastPadding = 36, kMostPadding = 60, kLength = 40;
constexpr int kClasses = 10, kSamples = 5000, kTrained = 4000;
constexpr double kScale = 0.4, kShear = 0.75, kSmoothNoise = 0.25, kNoise = 0.02;
constexpr int kMostMoved = 48;

using Series = std::vector<double>;

/// The height of each digit's line, from left to right.
constexpr std::array<std::array<double, kPoints>, kClasses> kDigits{{
    {5, 6, 6.5, 6.75, 7, 7, 7, 7, 6.75, 6.5, 6, 5},
    {5, 3, 3, 3.4, 3.8, 4.2, 4.6, 5, 5.4, 5.8, 5, 5},
    {5, 6, 6.5, 6.5, 6, 5.25, 4.75, 4, 3.5, 3.5, 4, 5},
    {5, 6, 6.5, 6.5, 6, 5, 5, 6, 6.5, 6.5, 6, 5},
    {5, 4.4, 3.8, 3.2, 2.6, 2.6, 5, 5, 5, 5, 5, 5},
    {5, 3, 3, 3, 3, 5, 6, 6.5, 6.5, 6, 4.5, 5},
    {5, 4, 3.5, 3.25, 3, 3, 3, 3, 3.25, 3.5, 4, 5},
    {5, 7, 7, 6.6, 6.2, 5.8, 5.4, 5, 4.6, 4.2, 5, 5},
    {5, 4, 3.5, 3.5, 4, 5, 5, 4, 3.5, 3.5, 4, 5},
    {5, 4, 3.5, 3.5, 4, 5, 5, 5, 5, 4.7, 4.3, 5},
}};

/// The same numbers on every machine, which the standard's distributions are not.
class Draws {
 public:
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  int below(int count) { return static_cast<int>(uniform() * count); }
  /// Box and Muller's.
  double normal() {
    const double radius = std::sqrt(-2 * std::log1p(-uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 random_{42};
};

double mean_of(const Series& x) { return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size()); }

double deviation_of(const Series& x) {
  const double mean = mean_of(x);
  double squares = 0;
  for (const double value : x) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(x.size()));
}

/// A digit of deviation 1/6 that begins at 0.
Series digit(int label) {
  const auto& heights = kDigits[static_cast<std::size_t>(label)];
  Series x(heights.begin(), heights.end());
  const double first = x.front(), deviation = deviation_of(x);
  for (double& value : x) value = (value - first) / deviation / 6;
  return x;
}

/// `x` at `length` places between its ends, on straight lines between its points.
Series resampled(const Series& x, int length) {
  Series y;
  for (int i = 0; i < length; ++i) {
    const double at = static_cast<double>(i) * static_cast<double>(x.size() - 1) / (length - 1);
    const auto left = std::min(static_cast<std::size_t>(at), x.size() - 2);
    const double share = at - static_cast<double>(left);
    y.push_back(x[left] + share * (x[left + 1] - x[left]));
  }
  return y;
}

/// A Gaussian of deviation 2, cut off at 4 deviations, over a series that goes on as its mirror image.
Series smoothed(const Series& x) {
  constexpr int kReach = 8;
  const int size = static_cast<int>(x.size());
  double weights = 0;
  for (int i = -kReach; i <= kReach; ++i) weights += std::exp(-i * i / 8.0);
  Series y;
  for (int at = 0; at < size; ++at) {
    double sum = 0;
    for (int i = -kReach; i <= kReach; ++i) {
      int from = at + i;
      if (from < 0) from = -from - 1;
      if (from >= size) from = 2 * size - from - 1;
      sum += std::exp(-i * i / 8.0) * x[static_cast<std::size_t>(from)];
    }
    y.push_back(sum / weights);
  }
  return y;
}

Series sample_of(int label, Draws& draws) {
  Series x = digit(label);
  // What a digit touches is not 0, and what lies beside it is: there noise takes its place.
  for (double& value : x) value += 1e-8;
  x.resize(x.size() + static_cast<std::size_t>(kLeastPadding + draws.below(kMostPadding - kLeastPadding + 1)));
  x = resampled(x, kPoints + kMostPadding);
  const double scale = 1 + kScale * (draws.uniform() - 0.5);
  for (double& value : x) value *= scale;
  std::ranges::rotate(x, x.end() - draws.below(kMostMoved));
  Series noise;
  for (std::size_t i = 0; i < x.size(); ++i) noise.push_back(kSmoothNoise * draws.normal());
  noise = smoothed(noise);
  const double tilt = kShear * (draws.uniform() - 0.5);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0) x[i] = noise[i];
    x[i] += kNoise * draws.normal();
    x[i] -= tilt * (static_cast<double>(i) / static_cast<double>(x.size() - 1) - 0.5);
  }
  return resampled(x, kLength);
}

}  // namespace

Dataset make_mnist1d() {
  Draws draws;
  Series all;
  for (int i = 0; i < kSamples; ++i) {
    const Series x = sample_of(i * kClasses / kSamples, draws);
    all.insert(all.end(), x.begin(), x.end());
  }
  std::vector<int> order(kSamples);
  std::iota(order.begin(), order.end(), 0);
  for (int left = kSamples; left > 1; --left)
    std::swap(order[static_cast<std::size_t>(left - 1)], order[static_cast<std::size_t>(draws.below(left))]);
  const double mean = mean_of(all), deviation = deviation_of(all);
  Dataset data;
  data.shape.sizes = {1, 1, kLength};
  data.classes = kClasses;
  for (int i = 0; i < kSamples; ++i) {
    LabelledSamples& to = i < kTrained ? data.train : data.test;
    const int from = order[static_cast<std::size_t>(i)];
    to.labels.push_back(static_cast<std::uint8_t>(from * kClasses / kSamples));
    for (int k = 0; k < kLength; ++k)
      to.numbers.push_back(static_cast<float>((all[static_cast<std::size_t>(from * kLength + k)] - mean) / deviation));
  }
  return data;
}

}  // namespace hbench
