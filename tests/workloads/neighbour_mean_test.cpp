// What mixing with neighbours does to the parameters of all ranks.

#include <cmath>
#include <numbers>

#include "collectives/transport/transport.hpp"
#include "tests/support/matchers.hpp"
#include "tests/workloads/engine_ranks.hpp"
#include "workloads/engine/means.hpp"
#include "workloads/methods/step_plan.hpp"

namespace hbench::neighbour_mean_test {
namespace {

using Parameters = std::vector<std::vector<float>>;  // by rank

/// As many exchanges as `rounds`, of parameters in two runs that lie apart.
Parameters mixed(Parameters parameters, int rounds) {
  const auto ranks = static_cast<int>(parameters.size());
  const auto failures = on_all_ranks(ranks, [&](Endpoint& endpoint) {
    std::vector<float>& own = parameters[static_cast<std::size_t>(endpoint.transport().rank())];
    const std::size_t first = own.size() / 3;
    std::vector<float> means(own.size());
    std::vector<std::byte> landing(neighbours_of(0, ranks).size() * own.size() * sizeof(float));
    for (int round = 0; round < rounds; ++round) {
      const std::span<float> from(own), to(means);
      const auto mean = make_neighbour_mean(endpoint, ranks,
                                            {.own = {from.first(first), from.subspan(first)},
                                             .means = {to.first(first), to.subspan(first)},
                                             .landing = landing});
      wait_for(*mean, Seconds(10), "mixing");
      own = means;
    }
  });
  EXPECT_THAT(failures, Each(IsEmpty()));
  return parameters;
}

Parameters some_parameters(int ranks) {
  Parameters parameters;
  for (int rank = 0; rank < ranks; ++rank)
    for (int i = 0; i < 100; ++i)
      (i == 0 ? parameters.emplace_back() : parameters.back()).push_back(std::sin(7.0F * static_cast<float>(rank + i)));
  return parameters;
}

double mean_of_all(const Parameters& parameters, std::size_t element) {
  double sum = 0;
  for (const auto& each : parameters) sum += each[element];
  return sum / static_cast<double>(parameters.size());
}

TEST(NeighbourMean, LeavesTheMeanOfAllRanksAsItWas) {
  for (const int ranks : {1, 2, 3, 4, 7}) {
    const Parameters before = some_parameters(ranks), after = mixed(before, 5);
    for (std::size_t i = 0; i < before[0].size(); ++i)
      EXPECT_NEAR(mean_of_all(after, i), mean_of_all(before, i), 1e-6) << ranks << " ranks";
  }
}

TEST(NeighbourMean, IsThatOfAllWhereAllAreNeighbours) {
  for (const int ranks : {2, 3}) {
    const Parameters before = some_parameters(ranks);
    for (const auto& after : mixed(before, 1))
      for (std::size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(after[i], mean_of_all(before, i), 1e-7);
  }
}

// The slowest wave around the circle is an eigenvector of the mixing matrix.
TEST(NeighbourMean, BringsRanksTogetherByTheSecondEigenvalue) {
  constexpr int kRanks = 8, kRounds = 6;
  const double wave = 2 * std::numbers::pi / kRanks, eigenvalue = 1.0 / 3 + 2.0 / 3 * std::cos(wave);
  Parameters before;
  for (int rank = 0; rank < kRanks; ++rank) before.push_back({static_cast<float>(std::cos(wave * rank)), 0, 0});
  const Parameters after = mixed(before, kRounds);
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    EXPECT_NEAR(after[rank][0], std::pow(eigenvalue, kRounds) * before[rank][0], 1e-6);
}

TEST(NeighbourMean, KnowsItsNeighbours) {
  EXPECT_THAT(neighbours_of(0, 4), ElementsAre(3, 1));
  EXPECT_THAT(neighbours_of(1, 2), ElementsAre(0));
  EXPECT_THAT(neighbours_of(0, 1), IsEmpty());
}

TEST(CommonMean, IsTheSameOnAllWorkersAndTellsHowFarTheyWere) {
  const TrainingRequest request = make_request({.workers = 2}, "ring", "", "none");
  Parameters all{{1, 5, 2}, {3, 5, 0}};
  double distance = 0;
  const auto failures = on_all_ranks(2, [&](Endpoint& endpoint) {
    const auto rank = static_cast<std::size_t>(endpoint.transport().rank());
    std::vector<float> means(3);
    const auto found = take_common_mean(request, endpoint, {.gradients = {}, .parameters = all[rank], .means = means});
    EXPECT_EQ(found.has_value(), rank == 0);
    if (found) distance = *found;
  });
  EXPECT_THAT(failures, Each(IsEmpty()));
  EXPECT_THAT(all, Each(ElementsAre(2, 5, 1)));
  EXPECT_DOUBLE_EQ(distance, std::sqrt(4.0 / 6));
}

}  // namespace
}  // namespace hbench::neighbour_mean_test
