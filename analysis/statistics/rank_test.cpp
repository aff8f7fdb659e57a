#include "analysis/statistics/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hbench {
namespace {

/// Twice the rank of each size: whole numbers, also where equal sizes share a rank.
std::vector<int> doubled_ranks(std::span<const double> differences) {
  std::vector<int> ranks;
  for (const double difference : differences) {
    int below = 0, equal = 0;
    for (const double other : differences) {
      below += std::abs(other) < std::abs(difference) ? 1 : 0;
      equal += std::abs(other) == std::abs(difference) ? 1 : 0;
    }
    ranks.push_back(2 * below + equal + 1);
  }
  return ranks;
}

/// By sum: the share of all choices of signs whose positive ranks have it.
std::vector<double> shares_by_sum(const std::vector<int>& ranks) {
  const auto most = static_cast<std::size_t>(std::accumulate(ranks.begin(), ranks.end(), 0));
  std::vector<double> shares(most + 1);
  shares[0] = 1;
  for (const int rank : ranks) {
    const auto added = static_cast<std::size_t>(rank);
    for (std::size_t sum = most + 1; sum-- > 0;)
      shares[sum] = (shares[sum] + (sum >= added ? shares[sum - added] : 0)) / 2;
  }
  return shares;
}

std::vector<double> walsh_averages(std::span<const double> differences) {
  std::vector<double> averages;
  for (std::size_t i = 0; i < differences.size(); ++i)
    for (std::size_t j = i; j < differences.size(); ++j) averages.push_back((differences[i] + differences[j]) / 2);
  std::ranges::sort(averages);
  return averages;
}

/// Returns the number of Walsh averages that lie outside of an interval of `level` on either side: the middle is below
/// that number of averages as seldom as the sum of the positive ranks is at most that number.
std::size_t averages_outside(std::size_t count, double level) {
  std::vector<int> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 1);
  const std::vector<double> shares = shares_by_sum(ranks);
  double below = shares[0];
  std::size_t outside = 0;
  while (below + shares[outside + 1] <= (1 - level) / 2) below += shares[++outside];
  return outside;
}

/// Twice the rank of each value of `a` followed by `b`: whole numbers, also where equal values share a rank.
std::vector<int> doubled_ranks(std::span<const double> a, std::span<const double> b) {
  std::vector<double> values(a.begin(), a.end());
  values.insert(values.end(), b.begin(), b.end());
  std::vector<int> ranks;
  for (const double value : values) {
    const auto below = std::ranges::count_if(values, [&](double other) { return other < value; });
    const auto equal = std::ranges::count(values, value);
    ranks.push_back(static_cast<int>(2 * below + equal + 1));
  }
  return ranks;
}

/// By sum: how many choices of `chosen` ranks have it.
std::vector<double> choices_by_sum(std::vector<int> ranks, std::size_t chosen) {
  std::ranges::sort(ranks);
  const auto most =
      static_cast<std::size_t>(std::accumulate(ranks.end() - static_cast<std::ptrdiff_t>(chosen), ranks.end(), 0));
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(most + 1));
  ways[0][0] = 1;
  // Ranks ascend, so that no `count` of the ranks so far have a larger sum than `count` times this rank.
  for (const int rank : ranks) {
    const auto added = static_cast<std::size_t>(rank);
    for (std::size_t count = chosen; count > 0; --count)
      for (std::size_t sum = std::min(most, count * added); sum >= added; --sum)
        ways[count][sum] += ways[count - 1][sum - added];
  }
  return ways[chosen];
}

/// Logarithms of all ratios b / a.
std::vector<double> log_ratios(std::span<const double> a, std::span<const double> b) {
  std::vector<double> logarithms;
  logarithms.reserve(a.size() * b.size());
  for (const double below : a)
    for (const double above : b) logarithms.push_back(std::log(above / below));
  return logarithms;
}

/// By how many deviations a normal distribution is above its mean with this probability.
double normal_quantile(double above) {
  double low = 0, high = 40;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > above ? low : high) = middle;
  }
  return low;
}

/// Returns the number of ratios of `few` and `many` values that lie outside of an interval of `level` on either side:
/// the shift is below that number of ratios as seldom as Mann and Whitney's count is at most that number. Exact for few
/// values; the count of many is nearly normal, and to count their choices takes the cube of their number.
std::size_t ratios_outside(std::size_t few, std::size_t many, double level) {
  constexpr std::size_t kMostCounted = 25;
  if (few > kMostCounted) {
    const auto m = static_cast<double>(few), n = static_cast<double>(many);
    const double deviations = normal_quantile((1 - level) / 2);
    return static_cast<std::size_t>(std::max(0.0, m * n / 2 - deviations * std::sqrt(m * n * (m + n + 1) / 12) - 0.5));
  }
  std::vector<int> ranks(few + many);
  std::iota(ranks.begin(), ranks.end(), 1);
  const std::vector<double> ways = choices_by_sum(std::move(ranks), few);
  const double total = std::accumulate(ways.begin(), ways.end(), 0.0);
  const std::size_t least = few * (few + 1) / 2;
  double below = ways[least];
  std::size_t outside = 0;
  while (below + ways[least + outside + 1] <= total * (1 - level) / 2) below += ways[least + ++outside];
  return outside;
}

}  // namespace

double signed_rank_test(std::span<const double> differences) {
  const std::vector<int> all = doubled_ranks(differences);
  std::vector<int> ranks;
  double positive = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (differences[i] == 0) continue;
    ranks.push_back(all[i]);
    positive += differences[i] > 0 ? all[i] : 0;
  }
  const double expected = std::accumulate(ranks.begin(), ranks.end(), 0.0) / 2;
  const std::vector<double> shares = shares_by_sum(ranks);
  double as_far = 0;
  for (std::size_t sum = 0; sum < shares.size(); ++sum)
    if (std::abs(static_cast<double>(sum) - expected) >= std::abs(positive - expected)) as_far += shares[sum];
  return std::min(as_far, 1.0);
}

double middle_difference(std::span<const double> differences) { return median(walsh_averages(differences)); }

Interval difference_interval(std::span<const double> differences, double level) {
  const std::vector<double> averages = walsh_averages(differences);
  const std::size_t outside = averages_outside(differences.size(), level);
  return {averages[outside], averages[averages.size() - 1 - outside]};
}

double rank_test(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 1;
  // The test is the same either way, and choices of few are quicker counted.
  if (a.size() > b.size()) return rank_test(b, a);
  const std::vector<int> ranks = doubled_ranks(a, b);
  const double all = std::accumulate(ranks.begin(), ranks.end(), 0.0);
  const double expected = all * static_cast<double>(a.size()) / static_cast<double>(ranks.size());
  const double seen = std::accumulate(ranks.begin(), ranks.begin() + std::ssize(a), 0.0);
  const double distance = std::abs(seen - expected);
  double total = 0, as_far = 0;
  const std::vector<double> ways = choices_by_sum(ranks, a.size());
  for (std::size_t sum = 0; sum < ways.size(); ++sum) {
    total += ways[sum];
    // Sums are whole numbers; the expectation may not be, by rounding.
    if (std::abs(static_cast<double>(sum) - expected) >= distance - 1e-9) as_far += ways[sum];
  }
  return as_far / total;
}

double relative_shift(std::span<const double> a, std::span<const double> b) {
  return std::expm1(median(log_ratios(a, b)));
}

Interval shift_interval(std::span<const double> a, std::span<const double> b, double level) {
  std::vector<double> ratios = log_ratios(a, b);
  std::ranges::sort(ratios);
  const std::size_t outside = ratios_outside(std::min(a.size(), b.size()), std::max(a.size(), b.size()), level);
  return {std::expm1(ratios[outside]), std::expm1(ratios[ratios.size() - 1 - outside])};
}

std::vector<double> holm_corrected(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> corrected(p_values.size());
  double largest = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const double p = static_cast<double>(order.size() - place) * p_values[order[place]];
    largest = std::max(largest, std::min(1.0, p));
    corrected[order[place]] = largest;
  }
  return corrected;
}

}  // namespace hbench
