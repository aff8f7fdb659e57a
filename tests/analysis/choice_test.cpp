// Which cluster a job should run on: goals, bands and prices by hand.

#include "analysis/choose/choice.hpp"

#include <cmath>

#include "tests/support/matchers.hpp"

namespace hbench::choice_test {
namespace {

/// A point of 100 samples/s for each GPU at full efficiency; its band is 0.1 wide on either side.
Point point(const std::string& cluster, int gpus, double efficiency) {
  Point made;
  made.asked.profile = cluster;
  made.asked.gpus = gpus;
  made.efficiency = efficiency;
  made.efficiency_low = efficiency - 0.1;
  made.efficiency_high = efficiency + 0.1;
  made.throughput = 100 * gpus * efficiency;
  return made;
}

const std::map<std::string, Offer> kOffers{{"cheap", {4, 1.0}}, {"fast", {8, 10.0}}, {"unpriced", {8, std::nullopt}}};

std::vector<std::string> names(const std::vector<Alternative>& alternatives) {
  std::vector<std::string> all;
  for (const Alternative& each : alternatives)
    all.push_back(each.point.asked.profile + " " + std::to_string(each.point.asked.gpus));
  return all;
}

// 6 GPUs are two nodes of 4 at 1 USD/h. 540 samples/s, 480 to 600: 1.944 M samples take an hour, 54 to 67.5 minutes.
TEST(Alternatives, HaveTimesAndPricesOfWholeNodesWithTheirBands) {
  const auto all = make_alternatives({point("cheap", 6, 0.9)}, kOffers, {.samples = 1'944'000});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].nodes, 2);
  EXPECT_DOUBLE_EQ(*all[0].cost_per_hour, 2);
  EXPECT_NEAR(all[0].throughput.low, 480, 1e-9);
  EXPECT_NEAR(all[0].throughput.high, 600, 1e-9);
  EXPECT_NEAR(all[0].hours->stated, 1, 1e-9);
  EXPECT_NEAR(all[0].hours->low, 0.9, 1e-9) << "the higher rate takes less time";
  EXPECT_NEAR(all[0].hours->high, 1.125, 1e-9);
  EXPECT_NEAR(all[0].cost->high, 2.25, 1e-9);
  EXPECT_EQ(all[0].meets, Certainty::pass);
}

// 10 % either way and a factor of 2 as an independent error: e^hypot(ln(0.9 / 0.8), ln 2) below.
TEST(Alternatives, AddTheErrorOfOneGpuToTimesAndNotToEfficiencies) {
  const std::map<std::string, Offer> offers{{"cheap", {4, 1.0, 2.0}}};
  const auto all = make_alternatives({point("cheap", 4, 0.9)}, offers, {.samples = 1e6});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_DOUBLE_EQ(all[0].efficiency.low, 0.8);
  EXPECT_NEAR(all[0].throughput.low, 360 / std::exp(std::hypot(std::log(0.9 / 0.8), std::log(2))), 1e-9);
  EXPECT_NEAR(all[0].throughput.high, 360 * std::exp(std::hypot(std::log(1.0 / 0.9), std::log(2))), 1e-9);
  EXPECT_NEAR(all[0].throughput.stated, 360, 1e-9);
  EXPECT_NEAR(all[0].hours->high / all[0].hours->stated, 360 / all[0].throughput.low, 1e-9);
}

// What nobody states counts where the job rests on it: links of a node with several GPUs, the network with several
// nodes, and the date of a price where money is asked for.
TEST(Choice, IsNeverSureOfWhatRestsOnAnAssumption) {
  Profile cluster;
  cluster.gpus_per_node = 4;
  cluster.figures = {{.key = "local.rate", .assumed = 2}, {.key = "network.nics", .assumed = 4}};
  cluster.price = Price{.per_node_hour = {1, "USD"}, .retrieved = "2026-09"};
  Offer offer{4, 1.0};
  offer.cluster = &cluster;
  const auto alternative = [&](int gpus, const Goals& goals) {
    return make_alternatives({point("cheap", gpus, 0.9)}, {{"cheap", offer}}, goals).at(0);
  };
  const Goals efficient{.efficiency = 0.1}, cheap{.samples = 1e6, .budget = 1e6};
  EXPECT_EQ(alternative(1, efficient).meets, Certainty::pass);
  EXPECT_EQ(alternative(4, efficient).meets, Certainty::likely);
  EXPECT_THAT(alternative(4, efficient).assumed, ElementsAre("local.rate"));
  EXPECT_THAT(alternative(8, efficient).assumed, ElementsAre("local.rate", "network.nics"));
  const Alternative dated = alternative(1, cheap);
  EXPECT_EQ(dated.meets, Certainty::pass);
  cluster.price->retrieved = "not stated";
  const Alternative undated = alternative(1, cheap);
  EXPECT_EQ(undated.meets, Certainty::likely);
  EXPECT_THAT(undated.assumed, ElementsAre("price.retrieved"));
  EXPECT_GT(undated.cost->high, dated.cost->high * 1.2);
  EXPECT_EQ(alternative(1, efficient).meets, Certainty::pass) << "nobody asks for money";
}

TEST(Alternatives, SayHowSurelyTheyMeetATarget) {
  const auto certainty = [](double efficiency) {
    return make_alternatives({point("cheap", 8, efficiency)}, kOffers, {.efficiency = 0.8}).at(0).meets;
  };
  EXPECT_EQ(certainty(0.91), Certainty::pass);
  EXPECT_EQ(certainty(0.89), Certainty::likely);
  EXPECT_EQ(certainty(0.8), Certainty::likely);
  EXPECT_EQ(certainty(0.79), Certainty::failed);
}

TEST(Alternatives, NeverMeetATargetSurelyWhereTheSpeedOfOneGpuIsAssumed) {
  const auto certainty = [](double factor) {
    return make_alternatives({point("a", 8, 0.95)}, {{"a", {.gpus_per_node = 4, .rate_factor = factor}}},
                             {.efficiency = 0.8})
        .at(0)
        .meets;
  };
  EXPECT_EQ(certainty(1.1), Certainty::pass);
  EXPECT_EQ(certainty(1.5), Certainty::likely);
}

// 8 GPUs of `cheap` at 2 USD/h and of `fast` at 10 miss 95 % by as much.
TEST(Alternatives, ThatMissTheGoalsByAsMuchAreOrderedAsThoseThatMeetThem) {
  const std::vector<Point> points{point("fast", 8, 0.7), point("cheap", 8, 0.7)};
  EXPECT_THAT(names(best_by_cluster(make_alternatives(points, kOffers, {.efficiency = 0.95, .samples = 1e6}))),
              ElementsAre("cheap 8", "fast 8"));
}

Point by(const std::string& algorithm, double efficiency) {
  Point made = point("cheap", 8, efficiency);
  made.asked.strategy = {.algorithm = algorithm, .compressor = "none"};
  made.ends = {.stated = 1 / efficiency, .better = 1 / efficiency, .worse = 1 / efficiency, .exposed = 0};
  return made;
}

Alternative best_of(const std::vector<Point>& points, const Goals& goals = {.efficiency = 0.8}) {
  const auto best = best_strategies(make_alternatives(points, kOffers, goals));
  EXPECT_EQ(best.size(), 1U);
  return best.at(0);
}

TEST(BestStrategies, TakeTheFirstThatIsAsQuickAsTheQuickest) {
  EXPECT_EQ(best_of({by("ring", 0.89), by("tree", 0.9)}).point.asked.strategy.algorithm, "ring");
  EXPECT_EQ(best_of({by("ring", 0.88), by("tree", 0.9)}).point.asked.strategy.algorithm, "tree");
  EXPECT_EQ(best_of({by("tree", 0.9), by("ring", 0.89)}).point.asked.strategy.algorithm, "tree");
}

TEST(BestStrategies, MeetTheGoalsWhereTheQuickestDoes) {
  EXPECT_EQ(best_of({by("ring", 0.795), by("tree", 0.805)}).point.asked.strategy.algorithm, "tree");
  EXPECT_EQ(best_of({by("ring", 0.895), by("tree", 0.905)}).meets, Certainty::likely) << "both do";
}

// Half of the model's own error is 5 %.
TEST(BestStrategies, NameTheRivalsThatNoPredictionTellsApart) {
  EXPECT_THAT(best_of({by("ring", 0.9), by("tree", 0.87), by("ps", 0.82)}).rivals, ElementsAre("tree"));
  EXPECT_THAT(best_of({by("ring", 0.795), by("tree", 0.805)}).rivals, ElementsAre("ring"));
  EXPECT_THAT(best_of({by("ring", 0.9)}).rivals, IsEmpty());
}

TEST(BestStrategies, NameTheRunnerUpAndHowFarItIsBehind) {
  const auto best = best_of({by("ps", 0.6), by("ring", 0.9), by("tree", 0.7)});
  ASSERT_TRUE(best.runner_up);
  EXPECT_EQ(best.runner_up->label, "tree");
  EXPECT_NEAR(best.runner_up->behind.ratio, 0.9 / 0.7, 1e-9);
  EXPECT_FALSE(best_of({by("ring", 0.9)}).runner_up);
}

TEST(BestStrategies, AreOneForEachClusterAndCount) {
  const auto best = best_strategies(make_alternatives(
      {point("fast", 8, 0.9), point("cheap", 8, 0.9), point("cheap", 4, 0.9), by("tree", 0.5)}, kOffers, {}));
  EXPECT_THAT(names(best), ElementsAre("cheap 4", "cheap 8", "fast 8"));
}

TEST(Alternatives, MeetTheGoalsWhereTheStatedFiguresDo) {
  const auto meets = [](double efficiency) {
    return meets_goals(make_alternatives({point("cheap", 8, efficiency)}, kOffers, {.efficiency = 0.8}).at(0));
  };
  EXPECT_TRUE(meets(0.91));
  EXPECT_TRUE(meets(0.8));
  EXPECT_FALSE(meets(0.79));
  EXPECT_FALSE(meets(0.69));
}

TEST(Alternatives, MeetAllGoalsOnlyAsSurelyAsTheHardest) {
  // 720 samples/s, 640 to 800, on 2 nodes: 2.592 M samples take 1 hour, 0.9 to 1.125, and 2 USD, 1.8 to 2.25.
  const auto with = [](Goals goals) {
    goals.samples = 2'592'000;
    return make_alternatives({point("cheap", 8, 0.9)}, kOffers, goals).at(0);
  };
  EXPECT_EQ(with({.hours = 1.2}).meets, Certainty::pass);
  EXPECT_EQ(with({.hours = 1.1}).meets, Certainty::likely);
  EXPECT_EQ(with({.hours = 0.95}).meets, Certainty::failed);
  EXPECT_EQ(with({.hours = 1.2, .budget = 1.9}).meets, Certainty::failed);
  EXPECT_EQ(with({.efficiency = 0.5, .hours = 1.2, .budget = 3}).meets, Certainty::pass);
  EXPECT_NEAR(with({.hours = 0.5}).missed_by, 2, 1e-9);
  EXPECT_NEAR(with({.hours = 0.5, .budget = 0.5}).missed_by, 4, 1e-9);
  EXPECT_EQ(with({.hours = 2}).missed_by, 1);
}

TEST(Alternatives, AreLeftOutWithoutAnOfferOrAnEfficiency) {
  Point bare = point("cheap", 2, 0.9), failed = bare;
  bare.efficiency.reset();
  failed.failed = true;
  EXPECT_THAT(make_alternatives({bare, failed, point("unknown", 2, 0.9)}, kOffers, {}), IsEmpty());
}

TEST(BestByCluster, IsTheMostGpusThatMeetATarget) {
  const auto all = make_alternatives({point("cheap", 4, 0.95), point("cheap", 8, 0.9), point("cheap", 16, 0.7),
                                      point("fast", 8, 0.95), point("fast", 16, 0.92)},
                                     kOffers, {.efficiency = 0.85});
  EXPECT_THAT(names(best_by_cluster(all)), ElementsAre("fast 16", "cheap 8"));
}

TEST(BestByCluster, IsTheCheapestWhereSamplesAreCounted) {
  // For 36 M samples: cheap 8 in 13.9 h for 28 USD, cheap 16 in 7.8 h for 31 USD, fast 16 in 6.25 h for 125 USD.
  const std::vector<Point> points{point("cheap", 8, 0.9), point("cheap", 16, 0.8), point("fast", 16, 1),
                                  point("unpriced", 16, 0.9), point("unpriced", 32, 0.8)};
  const auto best = [&](Goals goals) {
    goals.samples = 36e6;
    return names(best_by_cluster(make_alternatives(points, kOffers, goals)));
  };
  EXPECT_THAT(best({}), ElementsAre("cheap 8", "fast 16", "unpriced 16"));
  EXPECT_THAT(best({.hours = 8}), ElementsAre("cheap 16", "fast 16", "unpriced 16"));
  EXPECT_THAT(best({.hours = 4}), ElementsAre("unpriced 32", "fast 16", "cheap 16"))
      << "of which only the first is in time";
}

TEST(BestByCluster, IsTheNearestWhereNothingMeetsTheGoals) {
  const auto all = make_alternatives({point("cheap", 4, 0.6), point("cheap", 8, 0.5), point("fast", 8, 0.65)}, kOffers,
                                     {.efficiency = 0.9});
  EXPECT_THAT(names(best_by_cluster(all)), ElementsAre("fast 8", "cheap 4"));
}

TEST(BestByCluster, PutsWhatMissesTheGoalsByLittleBehindWhatDoes) {
  const auto all = make_alternatives({point("fast", 8, 0.75), point("cheap", 4, 0.81)}, kOffers, {.efficiency = 0.8});
  EXPECT_EQ(all[0].meets, Certainty::failed);
  EXPECT_THAT(names(best_by_cluster(all)), ElementsAre("cheap 4", "fast 8"));
}

TEST(ByPurchase, HasARankingForEachWayToBuy) {
  const std::map<std::string, Offer> offers{{"cheap", {4, 1.0, 1, PurchaseModel::spot}}, {"fast", {8, 10.0}}};
  const auto purchases = by_purchase(make_alternatives({point("cheap", 4, 0.9), point("fast", 8, 0.9)}, offers, {}));
  ASSERT_EQ(purchases.size(), 2U);
  EXPECT_EQ(purchases[0].model, PurchaseModel::on_demand);
  EXPECT_THAT(names(purchases[0].alternatives), ElementsAre("fast 8"));
  EXPECT_EQ(purchases[1].model, PurchaseModel::spot);
  EXPECT_EQ(by_purchase({}).size(), 1U);
}

// 8 GPUs are two nodes of 4 at 1 USD/h, or one of 8 at 10: 720 samples/s each, so the second's node may cost twice the
// first's. Of 16 GPUs at 80 %, 4 nodes at 1280 samples/s: 4 / 1280 to 1 / 720 of node-hours.
TEST(PriceFlip, IsWhereBothCostTheSame) {
  const auto flip_of = [](const std::vector<Point>& points, Goals goals) {
    goals.samples = 36e6;
    return price_flip(best_by_cluster(make_alternatives(points, kOffers, goals)));
  };
  const auto flip = flip_of({point("cheap", 8, 0.9), point("fast", 8, 0.9)}, {});
  ASSERT_TRUE(flip);
  EXPECT_EQ(flip->first, "cheap");
  EXPECT_DOUBLE_EQ(flip->ratio.stated, 0.5);
  EXPECT_DOUBLE_EQ(flip->first_may_rise_to(), 5);
  EXPECT_DOUBLE_EQ(flip->second_must_fall_to(), 2);
  EXPECT_LT(flip->ratio.low, 0.5);
  EXPECT_GT(flip->ratio.high, 0.5);
  EXPECT_NEAR(flip_of({point("cheap", 16, 0.8), point("fast", 8, 0.9)}, {})->ratio.stated, 1280 / 720.0 / 4, 1e-12);
  EXPECT_FALSE(flip_of({point("cheap", 8, 0.9)}, {}));
  EXPECT_FALSE(flip_of({point("cheap", 8, 0.9), point("unpriced", 8, 0.9)}, {}));
  EXPECT_FALSE(flip_of({point("cheap", 8, 0.9), point("fast", 8, 0.9)}, {.hours = 1})) << "neither meets it";
}

// Whatever is not known of the GPU's speed makes both as much slower.
TEST(PriceFlip, IsKnownBetterOfClustersWithOneGpu) {
  const auto width = [](const std::string& gpu) {
    std::map<std::string, Offer> offers = kOffers;
    offers.at("cheap").gpu = "a100";
    offers.at("fast").gpu = gpu;
    std::vector<Point> points{point("cheap", 8, 0.9), point("fast", 8, 0.9)};
    for (Point& each : points) each.rate_factor = 2;
    const auto flip = price_flip(best_by_cluster(make_alternatives(points, offers, {.samples = 36e6})));
    return flip->ratio.high / flip->ratio.low;
  };
  EXPECT_LT(width("a100"), 1.5);
  EXPECT_GT(width("h100"), 4);
}

TEST(ParetoFront, HasNothingOfWhichAnotherIsBothQuickerAndCheaper) {
  const std::vector<Point> points{point("cheap", 8, 0.9), point("cheap", 16, 0.8), point("fast", 8, 1),
                                  point("fast", 32, 1), point("unpriced", 64, 1)};
  EXPECT_THAT(names(pareto_front(make_alternatives(points, kOffers, {.samples = 36e6}))),
              ElementsAre("fast 32", "cheap 16", "cheap 8"));
  EXPECT_THAT(names(pareto_front(make_alternatives(points, kOffers, {.samples = 36e6, .hours = 8}))),
              ElementsAre("fast 32", "cheap 16"));
  EXPECT_THAT(pareto_front(make_alternatives(points, kOffers, {})), IsEmpty()) << "no samples, no time";
}

// 100 samples/s are 360,000 in an hour.
TEST(SamplesPerDollar, AreThoseOfAnHourForWhatItCosts) {
  EXPECT_DOUBLE_EQ(samples_for_one(100, 2), 180'000);
  EXPECT_EQ(samples_for_one(100, 0), 0);
}

TEST(Doubled, IsTheQuickestWayToUseTwiceAsManyGpus) {
  const auto all = make_alternatives(
      {point("cheap", 8, 0.9), point("cheap", 16, 0.5), point("cheap", 16, 0.8), point("fast", 16, 0.9)}, kOffers, {});
  EXPECT_EQ(doubled(all[0], all), &all[2]);
  EXPECT_EQ(doubled(all[1], all), nullptr);
}

}  // namespace
}  // namespace hbench::choice_test
