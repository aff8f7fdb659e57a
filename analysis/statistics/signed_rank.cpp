#include "analysis/statistics/signed_rank.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

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

}  // namespace hbench
