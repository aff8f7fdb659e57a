// `hbench collective --profile`: what is planned on clusters, and what comes of it.

#include "analysis/prediction/simulated_collective.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/points/collectives.hpp"
#include "analysis/points/unknowns.hpp"
#include "analysis/prediction/simulate.hpp"
#include "bench/collective/plan.hpp"
#include "bench/collective/table.hpp"
#include "collectives/network/choose.hpp"
#include "collectives/network/collective_model.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::simulated_collective_test {
namespace {

/// Four GPUs per node; of this cluster at most four nodes work together.
Profile four_per_node() {
  Profile profile;
  profile.name = "mine";
  profile.digest = "d1";
  profile.gpus_per_node = 4;
  profile.most_nodes = 4;
  profile.local_latency = Seconds(1e-6);
  profile.local_rate = BytesPerSecond(1e10);
  profile.network_latency = Seconds(1e-5);
  profile.line_rate = BytesPerSecond(1e9);
  profile.uncertainty = 0.1;
  return profile;
}

CollectiveRequest request_of(std::vector<std::string> algorithms = {}) {
  CollectiveRequest request;
  request.profiles = {"mine"};
  request.executors = {"simulate"};
  request.min_bytes = request.max_bytes = 1 << 20;
  request.algorithms = std::move(algorithms);
  return request;
}

CollectivePlan plan_of(const CollectiveRequest& request, const Profile& profile = four_per_node(),
                       std::int64_t memory = 0) {
  CollectiveMachine machine;
  machine.clusters = {profile};
  machine.memory = memory;
  return make_collective_plan(request, machine, {});
}

std::vector<CaseResult> results_of(const CollectivePlan& plan, const Profile& profile = four_per_node()) {
  return simulate_collectives(plan.simulated, std::vector{profile}, {}, [](const CaseResult&) {});
}

std::vector<std::string> names(const CollectivePlan& plan) {
  std::vector<std::string> all;
  for (const Case& asked : plan.simulated) all.push_back(std::to_string(asked.gpus) + " " + candidate_label(asked));
  return all;
}

TEST(CollectiveOnAClusterPlan, HasTheLibraryOnOneNodeAndOnTwo) {
  const CollectivePlan plan = plan_of(request_of());
  EXPECT_THAT(names(plan), ElementsAre("4 vendor on mine", "8 vendor on mine"));
  EXPECT_TRUE(plan.sets.empty());
  const Case& two = plan.simulated[1];
  EXPECT_EQ(two.nodes, 2);
  EXPECT_EQ(two.evidence, Evidence::simulated);
  EXPECT_EQ(two.profile, "mine");
  EXPECT_EQ(two.source, "profile d1");
  Profile lone = four_per_node();
  lone.most_nodes = 1;
  EXPECT_THAT(names(plan_of(request_of(), lone)), ElementsAre("4 vendor on mine"));
  lone.most_nodes = 0;
  lone.gpus_per_node = 1;
  EXPECT_THAT(names(plan_of(request_of(), lone)), ElementsAre("2 vendor on mine", "4 vendor on mine"));
}

TEST(CollectiveOnAClusterPlan, RefusesWhatTheClusterDoesNotHave) {
  CollectiveRequest request = request_of();
  request.ranks = {16, 17};
  const CollectivePlan plan = plan_of(request);
  EXPECT_THAT(names(plan), ElementsAre("16 vendor on mine"));
  EXPECT_THAT(plan.refused, ElementsAre(Refusal{"17 ranks on mine", "at most 16 of its GPUs work together"}));
}

TEST(CollectiveOnAClusterPlan, ResolvesAutoForEachSizeAndNamesNothingTwice) {
  CollectiveRequest request = request_of({"auto", "ring"});
  request.min_bytes = 1024;
  request.max_bytes = 256 << 20;
  request.factor = 262144;
  request.ranks = {8};
  const AlgorithmRule rule = choose_algorithm(four_per_node(), 8, usual_sizes()).rule;
  std::vector<std::string> expected;
  for (const std::int64_t bytes : {std::int64_t{1024}, std::int64_t{256} << 20}) {
    expected.push_back("8 " + rule.at(bytes).text() + " on mine");
    if (rule.at(bytes).text() != "ring") expected.push_back("8 ring on mine");
  }
  EXPECT_EQ(names(plan_of(request)), expected);
}

TEST(CollectiveOnAClusterPlan, GroupsByNodesAndPutsAServerOnEach) {
  CollectiveRequest request = request_of({"hierarchical", "ps"});
  request.ranks = {8};
  const CollectivePlan plan = plan_of(request);
  ASSERT_EQ(plan.simulated.size(), 2u);
  EXPECT_EQ(plan.simulated[0].collective.ranks_per_node, 4);
  EXPECT_EQ(plan.simulated[1].strategy.servers, 2);
  EXPECT_TRUE(plan.simulated[1].strategy.colocated());
  request.servers = ServerChoice{false, 3};
  EXPECT_EQ(plan_of(request).simulated[1].strategy.servers, 3);
}

TEST(CollectiveOnAClusterPlan, SaysWhatIsNotSimulated) {
  CollectiveRequest request = request_of({"ring"});
  request.ranks = {8};
  request.compressors = {"topk"};
  expect_error([&] { plan_of(request); }, ExitCode::usage,
               "nothing to do: ring + topk:0.01 on mine on 8 ranks: topk:0.01 is simulated in training steps only "
               "(hbench sweep)",
               testing::_);
  request.algorithms = {"vendor"};
  request.compressors = {"fp16"};
  expect_error([&] { plan_of(request); }, ExitCode::usage,
               "nothing to do: vendor + fp16 on mine on 8 ranks: vendor sends elements as they are: it cannot be "
               "combined with fp16",
               testing::_);
  request.algorithms = {"ring"};
  expect_error([&] { plan_of(request, four_per_node(), 100); }, ExitCode::usage,
               HasSubstr("to be simulated, and this machine has 100 B"), testing::_);
  request = request_of({"auto"});
  request.collective = CollectiveKind::all_gather;
  expect_error([&] { plan_of(request); }, ExitCode::usage,
               "nothing to do: auto on mine on 4 ranks, auto on mine on 8 ranks: auto chooses among all-reduces",
               testing::_);
}

TEST(CollectiveOnAClusterPlan, AllowsHalfPrecisionInALibraryOfGpus) {
  CollectiveRequest request = request_of({"vendor"});
  request.ranks = {8};
  request.type = DataType::float16;
  EXPECT_EQ(plan_of(request).simulated.size(), 1u);
}

// The stated figure is the model's; each thing that it does not know makes a part of the band.
// What a library's call may cost more is much of 1 KiB and little of 64 MiB; where nothing is called, nothing is
// unknown of it.
TEST(CollectiveOnACluster, KnowsSmallOnesLessWellWhereACallCostsSomething) {
  const auto unknown_call = [](double call_latency, std::int64_t bytes) {
    Profile profile = four_per_node();
    profile.call_latency = Seconds(call_latency);
    CollectiveRequest request = request_of({"ring"});
    request.ranks = {8};
    request.min_bytes = request.max_bytes = bytes;
    const CaseResult result = results_of(plan_of(request, profile), profile).at(0);
    return value_of(result, std::string(kUnknownPrefix) + "call").value_or(0);
  };
  EXPECT_EQ(unknown_call(0, 1024), 0);
  EXPECT_GT(unknown_call(20e-6, 1024), 0.05);
  EXPECT_LT(unknown_call(20e-6, 64 << 20), 0.01);
}

TEST(CollectiveOnACluster, TakesWhatTheModelSaysWithItsBand) {
  CollectiveRequest request = request_of({"ring", "vendor", "hierarchical", "ps"});
  request.compressors = {"none"};
  request.ranks = {8};
  const CollectivePlan plan = plan_of(request);
  const std::vector<CaseResult> results = results_of(plan);
  ASSERT_EQ(results.size(), 4u);
  for (const CaseResult& result : results) {
    const Case& asked = result.asked;
    const World world{8, asked.strategy.servers, asked.strategy.colocated(),
                      std::max(1, asked.collective.ranks_per_node)};
    const AlgorithmChoice algorithm = parse_algorithm(asked.strategy.algorithm);
    const auto time = [&](const Profile& profile) {
      return CollectiveModel(profile, world).answer(algorithm, {}, 1 << 18).time.value;
    };
    const auto calling = [](double seconds) {
      Profile profile = four_per_node();
      profile.call_latency = Seconds(seconds);
      return profile;
    };
    const Profile stated = four_per_node();
    const double call = stated.call_latency.value;
    const NetworkEnds ends = network_ends(stated, rate_prior(stated, 8));
    const BandFactors band = band_of(unknowns_of(CollectiveFacts{
        .time = time(stated),
        .rates = {.better = time(stated.slowed(ends.faster)), .worse = time(stated.slowed(ends.slower))},
        .hops = {.better = time(stated.delayed(1 / kHopPrior.shorter)),
                 .worse = time(stated.delayed(kHopPrior.longer))},
        .calls = {.better = time(calling(std::max(0.0, call - kCallPrior.faster))),
                  .worse = time(calling(call > 0 ? call + kCallPrior.slower : 0))},
        .nodes = 2}));
    const CollectiveFigures figures = collective_figures(result);
    EXPECT_NEAR(figures.in_place.seconds.value(), time(stated), 1e-15) << asked.strategy.algorithm;
    EXPECT_NEAR(figures.low.value(), time(stated) * band.low, 1e-12) << asked.strategy.algorithm;
    EXPECT_NEAR(figures.high.value(), time(stated) * band.high, 1e-12) << asked.strategy.algorithm;
    EXPECT_TRUE(value_of(result, "unknown/hops")) << "the result says what makes its band";
    EXPECT_EQ(figures.basis, "model");
  }
}

Profile with_curve() {
  Profile profile = four_per_node();
  profile.curves.push_back({.algorithm = "vendor",
                            .ranks = 8,
                            .nodes = 2,
                            .source = "nccl-tests",
                            .points = {{1 << 16, Seconds(1e-3)}, {1 << 24, Seconds(16e-3)}}});
  return profile;
}

TEST(CollectiveOnACluster, OnACurveHasTheBandOfARepeat) {
  CollectiveRequest request = request_of();
  request.ranks = {8};
  const std::vector<CaseResult> results = results_of(plan_of(request, with_curve()), with_curve());
  const CollectiveFigures figures = collective_figures(results.at(0));
  EXPECT_NEAR(figures.in_place.seconds.value(), 4e-3, 1e-12);
  EXPECT_NEAR(figures.low.value(), 4e-3 / std::exp(kCurveError), 1e-12);
  EXPECT_NEAR(figures.high.value(), 4e-3 * std::exp(kCurveError), 1e-12);
  EXPECT_EQ(figures.basis, "curve");
}

TEST(CollectiveOnACluster, SaysHowFarTheModelIsFromACurveThatAnswers) {
  CollectiveRequest request = request_of({"vendor", "ring"});
  request.ranks = {8};
  const Profile profile = with_curve();
  const std::vector<Case> cases = plan_of(request, profile).simulated;
  const std::vector<std::string> notes = curve_notes(cases, std::vector{profile});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("all-reduce of 8 ranks on mine was measured from 64KiB to 16MiB (nccl-tests)"));
  request.ranks = {4};
  EXPECT_TRUE(curve_notes(plan_of(request, profile).simulated, std::vector{profile}).empty());
}

TEST(CollectiveOnACluster, EndsWithWhatThereIsWhenAStopIsRequested) {
  CollectiveRequest request = request_of({"ring"});
  request.ranks = {2, 4, 8};
  const CollectivePlan plan = plan_of(request);
  int asked = 0;
  const auto results = simulate_collectives(
      plan.simulated, std::vector{four_per_node()}, [&] { return ++asked > 20; }, [](const CaseResult&) {});
  EXPECT_EQ(results.size(), 1u) << "two ranks need 2 rounds seven times, four need 6";
}

TEST(CollectiveOnACluster, IsShownWithItsBandAndWhatItIsKnownBy) {
  CollectiveRequest request = request_of({"vendor", "ring"});
  request.ranks = {8};
  const auto rows = collective_rows(results_of(plan_of(request)));
  const Document document = collective_document(rows, {.machine = {}, .comparison = true, .notes = {"A note."}});
  const Table& table = std::get<Table>(document.blocks.at(0));
  EXPECT_EQ(table.caption, "all-reduce, float32 sum, 8 ranks on 2 nodes of mine, simulated.");
  EXPECT_THAT(titles_of(table), ElementsAre("size (B)", "candidate", "count", "type", "redop", "time (us)",
                                            "algbw (GB/s)", "busbw (GB/s)", "90 % band (us)", "known by"));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[1][1], "ring on mine");
  EXPECT_EQ(table.rows[1].back(), "model");
  EXPECT_EQ(std::get<Paragraph>(document.blocks.back()).text, "A note.");
}

}  // namespace
}  // namespace hbench::simulated_collective_test
