// What a step of a method sends, counted message by message, is what its closed form says (Rajbhandari et al., ZeRO,
// SC 2020, section 7; Rabenseifner 2004 for the all-reduce).

#include <gtest/gtest.h>

#include "tests/collectives/clusters.hpp"
#include "workloads/simulation/step_simulator.hpp"

namespace hbench::sent_test {
namespace {

using namespace ::hbench::support;

/// Four blocks, which eight ranks divide without a rest.
constexpr std::int64_t kBlock = 8 * 4000;
constexpr double kBytes = 4.0 * 4 * kBlock;

StepTimeline four_blocks() {
  StepTimeline timeline{.batch = 1, .forward = Seconds(0.010), .backward = Seconds(0.020)};
  for (int block = 3; block >= 0; --block)
    timeline.gradients.push_back({"layers." + std::to_string(block) + ".weight", kBlock, Seconds(0.005 * (4 - block))});
  return timeline;
}

/// Eight workers on two nodes, or on one of eight, with a ring or with two dedicated servers.
Moved sent(const char* method, const char* compressor = "none", int servers = 0, int gpus_per_node = 4,
           int micro_batches = 1) {
  TrainingStrategy strategy{.method = parse_method(method),
                            .algorithm = parse_algorithm_rule(servers > 0 ? "ps" : "ring"),
                            .compressor = parse_compressor(compressor),
                            .fusion = parse_fusion("none"),
                            .optimizer = parse_optimizer("adam")};
  strategy.servers = servers;
  if (servers > 0) strategy.placement = &find_entry(placements(), "greedy", "placement");
  Profile profile = round_cluster();
  profile.gpus_per_node = gpus_per_node;
  return StepSimulator(profile, strategy.world(8, gpus_per_node))
      .run(four_blocks().repeated(micro_batches), strategy)
      .sent.value();
}

/// By the bytes of the model.
void expect_sent(const Moved& moved, double within, double between) {
  EXPECT_NEAR(moved.within / kBytes, within, 1e-9);
  EXPECT_NEAR(moved.between / kBytes, between, 1e-9);
}

constexpr double kPart = 7 / 8.0;  // of a buffer, which is what a reduce-scatter or an all-gather of 8 ranks sends
/// Two of the eight steps around a ring are between nodes.
constexpr double kWithin = 6 / 8.0, kBetween = 2 / 8.0;

TEST(Sent, OfAnAllReduceIsTwiceTheModelButForOnesOwnPart) {
  expect_sent(sent("synchronous"), 2 * kPart * kWithin, 2 * kPart * kBetween);
  expect_sent(sent("synchronous", "fp16"), kPart * kWithin, kPart * kBetween);
}

TEST(Sent, OfShardedOptimizersIsThatOfAnAllReduce) {
  for (const char* method : {"zero:1", "zero:2"}) expect_sent(sent(method), 2 * kPart * kWithin, 2 * kPart * kBetween);
}

TEST(Sent, OfShardedGradientsIsAScatterForEachMicroBatch) {
  expect_sent(sent("zero:2", "none", 0, 4, 3), (3 + 1) * kPart * kWithin, (3 + 1) * kPart * kBetween);
}

// The parameters of the last block stay from its forward to its backward pass.
TEST(Sent, OfShardedParametersIsHalfAsMuchAgainButForTheBlockThatStays) {
  const double volume = (1 + 3 / 4.0 + 1) * kPart;
  expect_sent(sent("fsdp"), volume * kWithin, volume * kBetween);
  expect_sent(sent("fsdp-keep"), 2 * kPart * kWithin, 2 * kPart * kBetween);
  const double coded = (1 + 3 / 4.0 + 1 / 2.0) * kPart;  // gradients alone are
  expect_sent(sent("fsdp", "fp16"), coded * kWithin, coded * kBetween);
}

TEST(Sent, OfShardingWithinNodesIsAnAllReduceOfAPartBetweenThem) {
  const double gathered = (1 + 3 / 4.0 + 1) * 3 / 4.0, reduced = 2 * (1 / 2.0) / 4;
  expect_sent(sent("hsdp:4"), gathered, reduced);
}

TEST(Sent, OfLocalTrainingIsShared) {
  for (const char* method : {"local-sgd:5", "diloco:5", "diloco:5:2:1"})
    expect_sent(sent(method), 2 * kPart * kWithin / 5, 2 * kPart * kBetween / 5);
}

TEST(Sent, OfCodedDeltasIsHalfAsMuch) {
  for (const char* method : {"diloco:5", "diloco:5:2:1"})
    expect_sent(sent(method, "fp16"), kPart * kWithin / 5, kPart * kBetween / 5);
}

// A byte for a number; the least and the largest of a message count once for each bucket.
TEST(Sent, ByMomentaIsOneByteForANumber) {
  const double quarter = (kBlock + 8) / (4.0 * kBlock);
  expect_sent(sent("qadam", "minmax8"), 2 * kPart * kWithin * quarter, 2 * kPart * kBetween * quarter);
}

// A bit for a number and two means in each message, to the rank that adds up a part and around the ring.
TEST(Sent, ByMomentaOnBothSidesIsOneBitForANumber) {
  const double encoded = (kBlock / 8 / 8 + 8 * 2) / (4.0 * kBlock / 8);
  const Moved moved = sent("1-bit-adam", "ef2:onebit");
  EXPECT_NEAR((moved.within + moved.between) / kBytes, 2 * kPart * encoded, 1e-9);
  EXPECT_NEAR(moved.between / kBytes, (4 / 8.0 + kPart * kBetween) * encoded, 1e-9);
}

TEST(Sent, WithServersIsTheModelThereAndBack) {
  for (const char* method : {"synchronous", "async-ps", "ssp:2"}) expect_sent(sent(method, "none", 2), 0, 2);
}

TEST(Sent, ToNeighboursIsTheModelToEither) { expect_sent(sent("decentralized"), 2 * kWithin, 2 * kBetween); }

// Which are drawn among all.
TEST(Sent, ToPartnersIsTheModelThereAndBack) {
  const Moved moved = sent("gossip");
  EXPECT_NEAR((moved.within + moved.between) / kBytes, 2, 1e-9);
  EXPECT_NEAR(moved.between / kBytes, 2 * 4 / 7.0, 0.15);
}

TEST(Sent, OfALibraryWhoseSchedulesNobodyKnowsIsNotSaid) {
  const TrainingStrategy vendor{.algorithm = parse_algorithm_rule("vendor"), .fusion = parse_fusion("none")};
  EXPECT_FALSE(StepSimulator(round_cluster(), {.workers = 8}).run(four_blocks(), vendor).sent);
}

}  // namespace
}  // namespace hbench::sent_test
