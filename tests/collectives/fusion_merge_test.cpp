/// MG-WFBP's merging against brute force.

#include "collectives/fusion/mg_wfbp.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "tests/support/matchers.hpp"

namespace hbench::fusion_merge_test {
namespace {

using Group = std::vector<std::size_t>;

/// When the last of `groups` ends if they are reduced in this order.
double finish(const std::vector<ReadyGradient>& gradients, const std::vector<Group>& groups, const ReduceTime& cost) {
  double free = 0;
  for (const Group& group : groups) {
    std::int64_t bytes = 0;
    for (const std::size_t index : group) {
      free = std::max(free, gradients[index].at.value);
      bytes += gradients[index].bytes;
    }
    free += cost.of(bytes).value;
  }
  return free;
}

/// Runs of these lengths as groups.
std::vector<Group> neighbours(const std::vector<std::size_t>& runs) {
  std::vector<Group> groups;
  std::size_t next = 0;
  for (const std::size_t run : runs)
    for (std::size_t i = 0; i < run; ++i) (i == 0 ? groups.emplace_back() : groups.back()).push_back(next++);
  return groups;
}

/// The best of all ways to put gradients into groups, whether neighbours or not, and of all orders of these groups.
double best_of_all(const std::vector<ReadyGradient>& gradients, const ReduceTime& cost) {
  double best = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> group_of(gradients.size());
  // Each assignment of group numbers is one ordered partition (with unused numbers, one seen elsewhere too).
  for (bool more = true; more;) {
    std::vector<Group> groups(gradients.size());
    for (std::size_t i = 0; i < gradients.size(); ++i) groups[group_of[i]].push_back(i);
    std::erase_if(groups, [](const Group& group) { return group.empty(); });
    best = std::min(best, finish(gradients, groups, cost));
    more = false;
    for (std::size_t& digit : group_of) {
      if (++digit < gradients.size()) {
        more = true;
        break;
      }
      digit = 0;
    }
  }
  return best;
}

TEST(OptimalMerge, IsNoWorseThanAnyGroupingInAnyOrder) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::size_t> count(1, 6);
  std::uniform_int_distribution<std::int64_t> bytes(0, 100);
  std::exponential_distribution<double> gap(1.0);
  std::uniform_real_distribution<double> exponent(-2, 2);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<ReadyGradient> gradients(count(random));
    double at = 0;
    for (ReadyGradient& gradient : gradients) gradient = {Seconds(at += gap(random)), bytes(random)};
    const ReduceTime cost{Seconds(std::pow(10, exponent(random))), BytesPerSecond(50 * std::pow(10, exponent(random)))};
    const auto runs = optimal_merge(gradients, cost);
    ASSERT_EQ(std::accumulate(runs.begin(), runs.end(), std::size_t{0}), gradients.size());
    const double best = best_of_all(gradients, cost);
    ASSERT_NEAR(finish(gradients, neighbours(runs), cost), best, 1e-12 * best) << "trial " << trial;
  }
}

TEST(OptimalMerge, PrefersFewAllReducesAmongEquals) {
  // Starting costs nothing and both are ready at once: one or two, they end at 3 s.
  const std::vector<ReadyGradient> gradients{{Seconds(1), 10}, {Seconds(1), 10}};
  EXPECT_THAT(optimal_merge(gradients, {Seconds(0), BytesPerSecond(10)}), ElementsAre(2));
}

TEST(OptimalMerge, HasNothingToDoWithoutGradients) {
  EXPECT_THAT(optimal_merge({}, {Seconds(1), BytesPerSecond(1)}), IsEmpty());
}

}  // namespace
}  // namespace hbench::fusion_merge_test
