#include "analysis/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/statistics.hpp"

namespace hbench {
namespace {

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
std::vector<double> choices_by_sum(const std::vector<int>& ranks, std::size_t chosen) {
  const auto most = static_cast<std::size_t>(std::accumulate(ranks.begin(), ranks.end(), 0));
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(most + 1));
  ways[0][0] = 1;
  for (const int rank : ranks)
    for (std::size_t count = chosen; count > 0; --count)
      for (std::size_t sum = most; sum + 1 > static_cast<std::size_t>(rank); --sum)
        ways[count][sum] += ways[count - 1][sum - static_cast<std::size_t>(rank)];
  return ways[chosen];
}

}  // namespace

double rank_test(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 1;
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
  std::vector<double> logarithms;
  for (const double below : a)
    for (const double above : b) logarithms.push_back(std::log(above / below));
  return std::expm1(median(std::move(logarithms)));
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
