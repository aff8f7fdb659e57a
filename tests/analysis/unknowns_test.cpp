// What is not known of a simulated step: which things apply, how far they move it, and the band that they make.

#include "analysis/points/unknowns.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/support/matchers.hpp"

namespace hbench::unknowns_test {
namespace {

/// A step of 0.1 s on 8 GPUs of one node that NVLink joins, of a framework with a preset.
StepFacts quiet() {
  return {.step = 0.1,
          .better = 0.1,
          .worse = 0.1,
          .gpus_of_node = 8,
          .tensors = 161,
          .bytes = 102e6,
          .switched_links = true,
          .framework_known = true};
}

double slower(const StepFacts& facts, UnknownKind kind) {
  const std::vector<Unknown> all = unknowns_of(facts);
  const auto found = std::ranges::find(all, kind, &Unknown::kind);
  return found == all.end() ? 0 : found->slower;
}

double high(const StepFacts& facts) { return band_of(unknowns_of(facts)).high; }
double low(const StepFacts& facts) { return band_of(unknowns_of(facts)).low; }

TEST(Unknowns, HaveNamesWordsAndMeasurementsOfTheirOwn) {
  std::set<std::string_view> names, words;
  for (const UnknownKind kind : kUnknownKinds) {
    names.insert(name_of(kind));
    words.insert(in_words(kind));
    EXPECT_FALSE(measurement_of(kind).empty()) << name_of(kind);
  }
  EXPECT_EQ(names.size(), kUnknownKinds.size());
  EXPECT_EQ(words.size(), kUnknownKinds.size());
}

TEST(Unknowns, AreIndependentSoThatTheirSquaresAddUp) {
  const BandFactors band =
      band_of({{UnknownKind::network, 0.3, 0.03}, {UnknownKind::input, 0.4, 0}, {UnknownKind::source, 0, 0.04}});
  EXPECT_DOUBLE_EQ(band.high, std::exp(0.5));
  EXPECT_DOUBLE_EQ(band.low, std::exp(-0.05));
  const BandFactors twice = band_of({{UnknownKind::network, 0.3, 0.1}}, 2);
  EXPECT_DOUBLE_EQ(twice.high, std::exp(0.6));
  EXPECT_DOUBLE_EQ(twice.low, std::exp(-0.2));
}

// What may make a step slower as well as faster moves no expectation, and what may only make it slower does.
TEST(Unknowns, MoveWhatIsExpectedWhereTheyReachFurtherToOneSide) {
  EXPECT_DOUBLE_EQ(expected_loss({}), 1);
  EXPECT_DOUBLE_EQ(expected_loss({{UnknownKind::source, 0.1, 0.1}}), 1);
  EXPECT_DOUBLE_EQ(expected_loss({{UnknownKind::network, 0.1, 0.3}}), 1) << "never below the schedule";
  const double some = expected_loss({{UnknownKind::input, 0.2, 0}}),
               more = expected_loss({{UnknownKind::input, 0.4, 0}});
  EXPECT_GT(some, 1);
  EXPECT_DOUBLE_EQ(more, some * some);
  EXPECT_LT(more, std::exp(0.4));
}

TEST(Unknowns, OfACollectiveReachAsFarAsItsEnds) {
  const std::vector<Unknown> all = unknowns_of(CollectiveFacts{.time = 1e-4,
                                                               .rates = {.better = 0.9e-4, .worse = 1.2e-4},
                                                               .hops = {.better = 1e-4, .worse = 2e-4},
                                                               .calls = {.better = 1.1e-4, .worse = 1.3e-4},
                                                               .nodes = 2});
  const auto of = [&](UnknownKind kind) { return *std::ranges::find(all, kind, &Unknown::kind); };
  EXPECT_DOUBLE_EQ(of(UnknownKind::network).slower, std::log(1.2));
  EXPECT_DOUBLE_EQ(of(UnknownKind::hops).slower, std::log(2.0));
  EXPECT_EQ(of(UnknownKind::hops).faster, 0);
  EXPECT_EQ(of(UnknownKind::call).faster, 0) << "a better end that takes longer is no better";
  EXPECT_EQ(largest(all).kind, UnknownKind::hops);
}

TEST(Unknowns, OfWhatALibraryChoosesMatterAsFarAsHopsAndCallsDo) {
  const auto library = [](double hops, double calls) {
    const CollectiveFacts facts{.time = 1,
                                .rates = {.better = 1, .worse = 1},
                                .hops = {.better = 1, .worse = 1 + hops},
                                .calls = {.better = 1, .worse = 1 + calls}};
    return size_of(unknowns_of(facts), UnknownKind::library);
  };
  EXPECT_DOUBLE_EQ(library(0, 0), kRateBoundError);
  EXPECT_DOUBLE_EQ(library(0.1, 0.05), kRateBoundError + std::log(1.1) + std::log(1.05));
  EXPECT_DOUBLE_EQ(library(2, 0.5), kCollectiveError);
}

TEST(Unknowns, ReachAsFarAsTheEndsOfTheProfileWhereThereIsNothingElse) {
  StepFacts facts = quiet();
  facts.worse = 0.2;
  facts.better = 0.05;
  EXPECT_GE(high(facts), 2);
  EXPECT_LE(low(facts), 0.5);
  EXPECT_LT(high(facts), 2.1);
}

TEST(Unknowns, AreOfTheNetworkOnSeveralNodesOfLinksOnOneAndOfServersWhereThereAreSome) {
  StepFacts facts = quiet();
  facts.worse = 0.2;
  EXPECT_GE(slower(facts, UnknownKind::links), std::log(2));
  facts.nodes = 4;  // that share an NVLink switch
  EXPECT_GE(slower(facts, UnknownKind::links), std::log(2));
  facts.domains = 2;
  EXPECT_NEAR(slower(facts, UnknownKind::network), std::log(2), 1e-12);
  facts.servers = true;
  EXPECT_NEAR(slower(facts, UnknownKind::servers), std::log(2), 1e-12);
  EXPECT_EQ(slower(facts, UnknownKind::network), 0);
}

// Most published efficiencies of one node that are low are no matter of communication: nothing makes a step faster.
TEST(Unknowns, OfInputAndHostsMakeAStepOnlySlowerAndMoreWithTheSamplesOfANode) {
  StepFacts few = quiet(), many = quiet();
  few.node_rate = 100;
  many.node_rate = 20'000;
  EXPECT_GT(slower(many, UnknownKind::input), 5 * slower(few, UnknownKind::input));
  EXPECT_EQ(low(few), low(many));
  EXPECT_GT(high(many), high(few));
  many.gpus_of_node = 1;
  EXPECT_EQ(slower(many, UnknownKind::input), 0) << "one GPU has its baseline's input";
}

TEST(Unknowns, ShrinkWhereTheRateOfAFullNodeIsKnown) {
  StepFacts facts = quiet();
  facts.node_rate = 20'000;
  facts.switched_links = false;
  facts.mixed_precision = true;
  StepFacts known = facts;
  known.node_measured = true;
  for (const UnknownKind kind : {UnknownKind::input, UnknownKind::links, UnknownKind::precision})
    EXPECT_LT(slower(known, kind), 0.5 * slower(facts, kind)) << name_of(kind);
  EXPECT_LT(high(known), high(facts));
}

TEST(Unknowns, WidenTheBandForEachThingThatIsNotKnown) {
  const double known = high(quiet());
  const auto widens = [&](auto change) {
    StepFacts facts = quiet();
    facts.hidden = 0.04;
    change(facts);
    return high(facts) > 1.02 * known;
  };
  EXPECT_TRUE(widens([](StepFacts& facts) { facts.framework_known = false; }));
  EXPECT_TRUE(widens([](StepFacts& facts) { facts.mixed_precision = true; }));
  EXPECT_TRUE(widens([](StepFacts& facts) { facts.computed_timeline = true; }));
  EXPECT_TRUE(widens([](StepFacts& facts) { facts.switched_links = false; }));
  EXPECT_TRUE(widens([](StepFacts& facts) { facts.codes = true; }));
  EXPECT_TRUE(widens([](StepFacts& facts) { facts.nodes = 16; }));
  EXPECT_TRUE(widens([](StepFacts& facts) { facts.recorded_error = 0.2; }));
  EXPECT_FALSE(widens([](StepFacts&) {}));
}

// Published compressors, chains of a framework's operators, add 0.1 to 0.6 s to a ResNet-50 step.
TEST(Unknowns, OfACompressorsImplementationReachAsFarAsPublishedOnes) {
  StepFacts facts = quiet();
  facts.codes = true;
  EXPECT_NEAR(0.1 * std::expm1(slower(facts, UnknownKind::compressor)), 0.55, 0.1);
  facts.coding_measured = true;
  EXPECT_EQ(slower(facts, UnknownKind::compressor), 0) << "nothing is unknown of what was timed";
}

TEST(Unknowns, AreNamedByTheLargestAndCountedOverBands) {
  EXPECT_EQ(largest({{UnknownKind::network, 0.2, 0.2}, {UnknownKind::input, 0.3, 0}}).kind, UnknownKind::input);
  EXPECT_EQ(widest_in_words({}), "");
  EXPECT_EQ(widest_in_words({UnknownKind::input, UnknownKind::network, UnknownKind::input}),
            "Most of the width of bands is whether input and hosts keep up with the GPUs of a node (known by: the "
            "samples/s of one full node, as --single-node-rate), and of others what the network carries (known by: "
            "nccl-tests on two nodes, for hbench calibrate --from).");
  EXPECT_EQ(widest_in_words({UnknownKind::framework}),
            "Most of the width of bands is what the framework costs on the host (known by: --preset, which names it, "
            "or the samples/s of one full node, as --single-node-rate).");
}

}  // namespace
}  // namespace hbench::unknowns_test
