// Ranks that average with one other, drawn anew in each iteration.

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "tests/support/matchers.hpp"
#include "tests/workloads/counting_compute.hpp"
#include "workloads/methods/step_plan.hpp"

namespace hbench::gossip_test {
namespace {

using testing::FloatNear;

TrainingRequest gossip_request(int workers, const char* fusion = "none") {
  TrainingRequest request = make_request({.workers = workers}, "ring", "", fusion);
  request.strategy.method = parse_method("gossip");
  return request;
}

// Nothing is applied: all that happens to parameters is mixing, and then the common mean.
void expect_mean_of_all(const TrainingRequest& request, const DeviceFactory& devices = {}) {
  const int workers = request.world.workers;
  const Trained all =
      train_counting(request, {.pass = [](Rank rank) { return Seconds(2e-4 * (1 + rank)); }, .devices = devices});
  EXPECT_THAT(all.failures, Each(IsEmpty()));
  float mean = 0;
  for (Rank rank = 0; rank < workers; ++rank) mean += CountingCompute::first_of(rank) / static_cast<float>(workers);
  for (const auto& parameters : all.parameters) EXPECT_THAT(parameters, Each(FloatNear(mean, 1e-5F)));
}

TEST(Gossip, LeavesTheMeanOfAllRanksAsItWasWhoeverAsksWhom) {
  for (const int workers : {2, 3, 5})
    for (const char* fusion : {"none", "ddp", "horovod:64MiB:1ms"}) {
      SCOPED_TRACE(fmt::format("{} {}", workers, fusion));
      TrainingRequest request = gossip_request(workers, fusion);
      request.steps = 20;
      expect_mean_of_all(request);
    }
}

TEST(Gossip, LeavesTheMeanAsItWasOnDevicesThatDoTheirWorkLater) {
  for (const int workers : {2, 3}) expect_mean_of_all(gossip_request(workers), lazy_devices());
}

TEST(Gossip, BringsRanksTogether) {
  constexpr int kWorkers = 4;
  double mean = 0,
         distance = 0;  // before the first step; one step may already end in the mean, by the order of partners
  for (Rank rank = 0; rank < kWorkers; ++rank) mean += CountingCompute::first_of(rank) / kWorkers;
  for (Rank rank = 0; rank < kWorkers; ++rank)
    distance += std::pow(CountingCompute::first_of(rank) - mean, 2) / kWorkers;
  TrainingRequest request = gossip_request(kWorkers);
  request.steps = 40;
  EXPECT_LT(train_counting(request).consensus_distance.value(), 1e-4 * std::sqrt(distance));
}

TEST(Gossip, LetsASlowWorkerHoldUpNobody) {
  constexpr int kWorkers = 4, kSlower = 4;
  const Seconds pass(0.02);
  TrainingRequest request = gossip_request(kWorkers);
  request.steps = 8;
  const Trained all = train_counting(request, {.pass = [&](Rank rank) { return rank == 1 ? kSlower * pass : pass; }});
  EXPECT_THAT(all.failures, Each(IsEmpty()));
  EXPECT_NEAR(share_done(all), (kWorkers - 1 + 1.0 / kSlower) / kWorkers, 0.15);
}

TEST(Gossip, NamesAPartnerThatStopsAnswering) {
  TrainingRequest request = gossip_request(3);
  request.steps = 100000;
  request.timeout = Seconds(0.5);
  Counting how{.pass = [](Rank) { return Seconds(1e-3); }};
  how.stop = [](Rank rank, const StepReport& step) {
    if (rank == 1 && step.iteration == 2) throw Error(ExitCode::internal, "struck");
  };
  const Trained all = train_counting(request, how);
  EXPECT_EQ(all.failures[1], "struck");
  // Who has given up on it first does not answer either.
  for (const std::size_t rank : {0U, 2U})
    EXPECT_THAT(all.failures[rank], AnyOf(HasSubstr("rank 1"), HasSubstr("ranks 1, ")));
}

TEST(Partner, IsDrawnAmongAllOthersAndTheSameEachTime) {
  std::set<Rank> drawn;
  for (int iteration = 0; iteration < 100; ++iteration) {
    drawn.insert(partner_of(2, iteration, 5));
    EXPECT_EQ(partner_of(2, iteration, 5), partner_of(2, iteration, 5));
  }
  EXPECT_THAT(drawn, ElementsAre(0, 1, 3, 4));
}

}  // namespace
}  // namespace hbench::gossip_test
