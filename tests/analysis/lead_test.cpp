// Who is ahead: the one rule.

#include "analysis/points/lead.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/points/points.hpp"
#include "analysis/points/unknowns.hpp"

namespace hbench::lead_test {
namespace {

StepEnds step(double better, double stated, double worse, double exposed = 0) {
  return {.stated = stated, .better = better, .worse = worse, .exposed = exposed};
}

TEST(Lead, IsOfTheFirstWhereItIsFasterByMoreThanTheModelsErrorAtEveryEnd) {
  const double enough = std::exp(kModelError.compute) + 0.01, few = std::exp(kModelError.compute) - 0.01;
  const auto who = [](const StepEnds& first, const StepEnds& second) { return lead_of(first, second).who(); };
  EXPECT_EQ(who(step(1, 1, 1), step(enough, enough, enough)), Ahead::first);
  EXPECT_EQ(who(step(1, 1, 1), step(few, few, few)), Ahead::level);
  EXPECT_EQ(who(step(1, 1, 1), step(1, enough, enough)), Ahead::level);
  EXPECT_EQ(who(step(1, 1, 1), step(enough, enough, 1)), Ahead::level);
  EXPECT_EQ(who(step(enough, enough, enough), step(1, 1, 1)), Ahead::second);
  EXPECT_EQ(who(step(1, 1, 1), step(enough, enough, enough, 1)), Ahead::level)
      << "where exchanges are exposed their error counts too";
}

// What both share may make both twice as slow, and nobody is less ahead for it.
TEST(Lead, IsNotWidenedByWhatBothShare) {
  const Lead lead = lead_of(step(0.5, 1, 2), step(0.75, 1.5, 3));
  EXPECT_EQ(lead.who(), Ahead::first);
  EXPECT_DOUBLE_EQ(lead.ratio, 1.5);
  EXPECT_NEAR(lead.low, 1.5 / std::exp(kModelError.compute), 1e-12);
  EXPECT_NEAR(lead.high, 1.5 * std::exp(kModelError.compute), 1e-12);
}

TEST(Lead, IsWidenedByWhatTwoFamiliesHaveApartAsFarAsItIsExposed) {
  StepEnds ring = step(1, 1, 1, 0.5), servers = step(1.5, 1.5, 1.5, 0.2);
  servers.servers = true;
  const double error = std::hypot(kModelError.half_width(0.5), 0.5 * kServersApart);
  EXPECT_NEAR(lead_of(ring, servers).low, 1.5 / std::exp(error), 1e-12);
  ring.servers = true;
  EXPECT_NEAR(lead_of(ring, servers).low, 1.5 / std::exp(kModelError.half_width(0.5)), 1e-12);
}

TEST(Lead, IsLessSureOfACompressorWhoseImplementationIsNotKnown) {
  const StepEnds plain = step(1, 1, 1);
  StepEnds compressed = step(0.5, 0.5, 0.5);
  compressed.coding = 1;
  const Lead lead = lead_of(compressed, plain);
  EXPECT_EQ(lead.who(), Ahead::level);
  EXPECT_EQ(lead.verdict(), LeadVerdict::likely);
  EXPECT_NEAR(lead.high, 2 * std::exp(kModelError.compute), 1e-12) << "nothing that is unknown makes it quicker";
  EXPECT_NEAR(lead_of(plain, compressed).inverse().low, lead.low, 1e-12);
}

TEST(Lead, OfOneLaunchEachIsNoVerdict) {
  const auto timed = [](double throughput) {
    Point point{.throughput = throughput};
    point.asked.evidence = Evidence::measured;
    point.timed = {{.step = 1 / throughput}};
    return point;
  };
  const Lead lead = lead_of(timed(300), timed(200));
  EXPECT_FALSE(lead.is_judged());
  EXPECT_EQ(lead.who(), Ahead::level);
  EXPECT_EQ(lead.inverse().who(), Ahead::level);
  EXPECT_EQ(lead.in_words(), "1.5 (one launch, no verdict)");
}

TEST(Lead, IsLikelyByHalfOfItsBand) {
  EXPECT_EQ((Lead{1.2, 1.1, 1.3}.verdict()), LeadVerdict::ahead);
  EXPECT_EQ((Lead{1.2, 0.9, 1.6}.verdict()), LeadVerdict::likely);
  EXPECT_EQ((Lead{1.2, 0.8, 1.8}.verdict()), LeadVerdict::level);
  EXPECT_EQ((Lead{0.8, 0.5, 1.2}.verdict()), LeadVerdict::likely);
  EXPECT_EQ((Lead{0.8, 0.7, 0.9}.verdict()), LeadVerdict::ahead);
}

TEST(Lead, IsTheReciprocalTheOtherWayRound) {
  const Lead lead = lead_of(step(1, 1, 1), step(1.4, 1.5, 1.8)), back = lead_of(step(1.4, 1.5, 1.8), step(1, 1, 1));
  EXPECT_DOUBLE_EQ(lead.inverse().ratio, back.ratio);
  EXPECT_DOUBLE_EQ(lead.inverse().low, back.low);
  EXPECT_DOUBLE_EQ(lead.inverse().high, back.high);
}

TEST(Lead, IsReadWithItsBand) {
  EXPECT_EQ((Lead{1.52, 1.34, 1.75}.in_words()), "1.5 (1.3 to 1.8)");
  EXPECT_EQ((Lead{1.04, 0.93, 1.16}.in_words()), "1.04 (0.93 to 1.16)");
  EXPECT_EQ((Lead{1.2, 1.05, 1.3}.in_words()), "1.20 (1.05 to 1.30)") << "1.1 would hide by how little";
  EXPECT_EQ((Lead{25.3, 20.4, 30.2}.in_words()), "25 (20 to 30)");
}

Point simulated(const char* profile, StepEnds ends) {
  Point point;
  point.asked.profile = profile;
  point.asked.gpus = 8;
  point.asked.batch_per_gpu = 32;
  point.ends = ends;
  point.step_seconds = ends.stated;
  point.throughput = 8 * 32 / ends.stated;
  return point;
}

TEST(LeadOfPoints, MeetsOppositeEndsOnDifferentClusters) {
  const StepEnds quick = step(0.8, 1, 1.2), slow = step(1.2, 1.5, 1.8);
  EXPECT_EQ(lead_of(simulated("a", quick), simulated("a", slow)).who(), Ahead::first);
  const Lead apart = lead_of(simulated("a", quick), simulated("b", slow));
  EXPECT_EQ(apart.who(), Ahead::level);
  EXPECT_NEAR(apart.low, 1.5 / std::exp(std::hypot(std::log(1.5), kModelError.compute)), 1e-12);
}

Point timed(std::vector<TimedLaunch> launches) {
  Point point = simulated("local", step(1, 1, 1));
  point.asked.evidence = Evidence::measured;
  point.timed = std::move(launches);
  return point;
}

// The machine gets twice as slow from launch to launch: what took turns has one ratio all the same.
TEST(LeadOfPoints, ComparesLaunchesThatTookTurnsPairByPair) {
  const Point first = timed({{1, 0.9}, {2, 1.8}, {4, 3.6}, {8, 7.2}, {16, 14.4}});
  const Point second = timed({{1.10, 0.9}, {2.21, 1.8}, {4.4, 3.6}, {8.79, 7.2}, {17.6, 14.4}});
  const Lead lead = lead_of(first, second);
  EXPECT_EQ(lead.who(), Ahead::first);
  EXPECT_NEAR(lead.ratio, 1.1, 0.005);
  const Point elsewhen = timed({{1.10, 0.91}, {2.21, 1.81}, {4.4, 3.61}, {8.79, 7.21}, {17.6, 14.41}});
  EXPECT_EQ(lead_of(first, elsewhen).who(), Ahead::level) << "launches that did not take turns scatter too much";
}

TEST(LeadOfPoints, NeedsATenthWhereNobodyKnowsTheScatter) {
  Point first = timed({}), second = timed({});
  first.asked.evidence = second.asked.evidence = Evidence::published;
  second.throughput = first.throughput / 1.09;
  EXPECT_EQ(lead_of(first, second).who(), Ahead::level);
  second.throughput = first.throughput / 1.12;
  EXPECT_EQ(lead_of(first, second).who(), Ahead::first);
}

TEST(LeadOfPoints, IsThatOfEfficienciesWhereNoThroughputIsPublished) {
  Point first = timed({}), second = timed({});
  first.asked.evidence = second.asked.evidence = Evidence::published;
  first.throughput = second.throughput = 0;
  first.efficiency = 0.9;
  second.efficiency = 0.6;
  EXPECT_DOUBLE_EQ(lead_of(first, second).ratio, 1.5);
}

TEST(LeadOfPoints, IsThatOfStepsWhereTheirSamplesAreNotKnown) {
  Point first = simulated("a", step(1, 1, 1));
  first.throughput = 0;
  EXPECT_DOUBLE_EQ(lead_of(first, simulated("a", step(1.5, 1.5, 1.5))).ratio, 1.5);
}

}  // namespace
}  // namespace hbench::lead_test
