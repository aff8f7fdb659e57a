/// What cannot be judged: wide bands, rates that nobody measured, and causes that the other sizes contradict.

#include <algorithm>

#include "analysis/expect/expectation.hpp"
#include "analysis/import/format.hpp"
#include "analysis/prediction/slow_causes.hpp"
#include "analysis/records/metrics.hpp"
#include "collectives/network/library_model.hpp"
#include "tests/analysis/lab_cluster.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::expectation_doubt_test {
namespace {

constexpr std::array kSizes{4096.0, 262144.0, 16777216.0, 268435456.0, 1073741824.0};

/// An all-reduce of each size on nodes of `sick`, which takes `factors` as many times as long as the model, of which
/// `healthy` is what is known.
Expectation measured(const Profile& sick, int nodes, const std::array<double, kSizes.size()>& factors,
                     const Profile& healthy = lab_cluster()) {
  std::vector<CaseResult> results;
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    CaseResult result;
    result.asked = collective_case("all_reduce_perf", CollectiveKind::all_reduce, static_cast<std::int64_t>(kSizes[i]),
                                   "float32", "sum");
    result.asked.gpus = 8 * nodes;
    result.asked.nodes = nodes;
    const LibraryTime time = library_time(sick, CollectiveKind::all_reduce, 8 * nodes, Bytes(kSizes[i]));
    result.samples.push_back(
        {.metric = std::string(metric::kInPlace), .value = factors[i] * time.time.value, .unit = "s"});
    results.push_back(std::move(result));
  }
  return expect(results, {}, healthy, 0, [] { return false; });
}

std::vector<std::string_view> causes(const Expectation& found) {
  std::vector<std::string_view> names;
  for (const Suspicion& each : found.suspicions) names.push_back(each.what);
  return names;
}

const SlowCause& cause(std::string_view name) { return *std::ranges::find(slow_causes(), name, &SlowCause::what); }

/// The lab as somebody knows it who is not sure of its rates.
Profile vague_lab() {
  Profile vague = lab_cluster();
  vague.uncertainty = 0.45;
  return vague;
}

TEST(ExpectInDoubt, WhatIsHalfAsSlowAgainAtAllLargeSizesIsUnclearAndHasItsCause) {
  const Expectation found = measured(lab_cluster(), 4, {1.05, 1.05, 1.05, 1.5, 1.5}, vague_lab());
  std::vector<Normality> sizes;
  for (const ExpectedSize& size : found.sizes) sizes.push_back(size.normality());
  EXPECT_THAT(sizes, ElementsAre(Normality::pass, Normality::pass, Normality::pass, Normality::inconclusive,
                                 Normality::inconclusive));
  EXPECT_EQ(found.normality(), Normality::inconclusive);
  EXPECT_THAT(causes(found), ElementsAre("bytes pass the host's memory (no GPUDirect RDMA)"));
}

TEST(ExpectInDoubt, LargeBuffersOverRdmaAreSlowWhereTheyTakeHalfAsLongAgain) {
  Profile nodes = lab_cluster();  // InfiniBand of which somebody states no protocol of low latency
  nodes.network_low_latency = Seconds(0);
  nodes.network_latency = Seconds(8e-6);
  const Expectation found = measured(nodes, 12, {1, 1, 1, 1, 1.5}, nodes);
  EXPECT_EQ(found.sizes.back().normality(), Normality::slow);
  EXPECT_LT(found.sizes.back().high / found.sizes.back().low, found.sizes.front().high / found.sizes.front().low)
      << "bytes leave a library less to choose than hops do";
}

TEST(ExpectInDoubt, TheLargestSizeDecidesUnlessOneIsSlowOrImpossible) {
  const std::tuple<std::array<double, 5>, Normality> rows[] = {
      {{1, 1, 1, 1, 1}, Normality::pass},           {{1.05, 1.05, 1.05, 1.5, 1}, Normality::pass},
      {{1, 1, 1, 1, 1.5}, Normality::inconclusive}, {{1, 1, 1, 1, 0.5}, Normality::fast},
      {{1, 1, 10, 1, 0.5}, Normality::slow},        {{1e-4, 1, 10, 1, 1}, Normality::error},
      {{1, 1, 1, 1, 0.05}, Normality::error}};
  for (const auto& [factors, expected] : rows)
    EXPECT_EQ(measured(lab_cluster(), 4, factors, vague_lab()).normality(), expected)
        << ::testing::PrintToString(factors);
  EXPECT_FALSE(Expectation{}.normality()) << "nothing was measured";
  EXPECT_THAT(causes(measured(lab_cluster(), 4, {1.05, 1.05, 1.05, 1.5, 1}, vague_lab())), IsEmpty());
}

TEST(ExpectInDoubt, OneNicOverTheHostIsFoundWhetherTreesOrRingsRun) {
  const char* name = "one NIC of a node does all the work, over the host's memory";
  const Profile sick = *cause(name).on(lab_cluster(), true);
  for (const Profile& profile : {sick, with_rings(sick)})
    EXPECT_EQ(measured(profile, 2, {1, 1, 1, 1, 1}).suspicions.at(0).what, name);
  EXPECT_FALSE(cause(name).on(lab_cluster(), false)) << "no NIC is needed";
}

TEST(ExpectInDoubt, ALineThatCopiesKeepUpWithLosesNothingByThem) {
  Profile cluster = lab_cluster();
  const auto over_host = cause("bytes pass the host's memory (no GPUDirect RDMA)").on;
  cluster.line_rate = BytesPerSecond(10e9 / 8);
  EXPECT_FALSE(over_host(cluster, true));
  cluster.line_rate = BytesPerSecond(25e9 / 8);
  EXPECT_TRUE(over_host(cluster, true));
  cluster.stream_cap = BytesPerSecond(9e9 / 8);
  EXPECT_FALSE(over_host(cluster, true)) << "TCP has no other way";
  EXPECT_FALSE(cause("sockets (TCP) instead of RDMA").on(cluster, true));
}

TEST(ExpectInDoubt, ACauseThatOtherSizesContradictIsNotNamed) {
  // Small buffers alone are slow: sockets would make large ones slow too.
  const Profile late = *cause("the host is late with each call").on(lab_cluster(), true);
  EXPECT_THAT(causes(measured(late, 2, {1, 1, 1, 1, 1})), ElementsAre("the host is late with each call"));
}

Data data() {
  return {ProfileLibrary(HBENCH_SOURCE_DIR "/cluster-profiles"), TraceLibrary(HBENCH_SOURCE_DIR "/workloads/traces")};
}

/// LLaMA 7B, of which nobody measured the rate of one A100 with PyTorch.
PredictionRequest llama() {
  PredictionRequest request;
  request.gpus = {8};
  request.workloads = {"llama_7b"};
  request.profiles = {"dgx-a100"};
  request.algorithms = {"ring"};
  request.compressors = {"none"};
  request.methods = {"zero:1"};
  request.precision = "bf16";
  request.evidence = {Evidence::simulated};
  return request;
}

TrainingExpectation training(double rate, const PredictionRequest& asked) {
  return expect_training(asked, rate, data(), {});
}

TEST(ExpectInDoubt, TheRateOfOneGpuThatNobodyMeasuredWidensTheBandAtBothEnds) {
  const TrainingExpectation modelled = training(1, llama());
  PredictionRequest asked = llama();
  asked.single_gpu_rate = modelled.alone / 8;
  const TrainingExpectation given = training(1, asked);
  EXPECT_TRUE(modelled.modelled);
  EXPECT_FALSE(given.modelled);
  EXPECT_NEAR(given.expected / modelled.expected, 1, 0.01);
  EXPECT_LE(given.high, 1.0001 * given.alone);
  EXPECT_GT(modelled.high, 1.1 * given.high);
  EXPECT_LT(modelled.low, given.low);
  EXPECT_EQ(training(1.05 * modelled.alone, llama()).normality(), Normality::pass);
  EXPECT_EQ(training(1.05 * given.alone, asked).normality(), Normality::fast);
}

TEST(ExpectInDoubt, OnlyThePeakOfTheArithmeticIsImpossible) {
  // Layers, width and words of LLaMA 7B, at 312 TFLOP/s: twice the half of attention that a causal mask leaves.
  const TransformerShape shape = *data().traces.load("llama_7b").shape;
  const double peak = 8 * 312e12 / (shape.cost().flops - 6.0 * 32 * 4096 * 2048 * 2048);
  for (const Recomputation recomputation : {Recomputation::none, Recomputation::full}) {
    PredictionRequest asked = llama();
    asked.recomputation = recomputation;
    EXPECT_NEAR(training(1, asked).peak / peak, 1, 1e-9);
    EXPECT_EQ(training(0.99 * peak, asked).normality(), Normality::fast);
    EXPECT_EQ(training(1.01 * peak, asked).normality(), Normality::error);
  }
  PredictionRequest asked = llama();
  asked.workloads = {"bert_base"};
  asked.precision = "tf32";
  EXPECT_NEAR(training(1, asked).peak * data().traces.load("bert_base").cost->flops, 8 * 156e12, 1e6)
      << "that of the precision, and all of an encoder's attention";
}

TEST(ExpectInDoubt, RatesInABandAreJudgedAsFarAsItIsNarrow) {
  struct {
    double measured, low, high, peak;
    Normality expected;
  } const rows[] = {{100, 80, 110, 0, Normality::pass},        {79, 80, 110, 0, Normality::slow},
                    {111, 80, 110, 0, Normality::fast},        {111, 80, 110, 110.5, Normality::error},
                    {81, 40, 130, 0, Normality::pass},         {70, 40, 130, 0, Normality::pass},
                    {60, 40, 130, 0, Normality::inconclusive}, {99, 30, 150, 0, Normality::inconclusive},
                    {101, 30, 150, 0, Normality::pass},        {99, 31, 150, 0, Normality::pass},
                    {1e6, 80, 110, 0, Normality::fast}};
  for (const auto& row : rows) {
    TrainingExpectation found;
    found.expected = 100;
    found.measured = row.measured;
    found.low = row.low;
    found.high = row.high;
    found.peak = row.peak;
    EXPECT_EQ(found.normality(), row.expected) << row.measured << " in " << row.low << " to " << row.high;
  }
}

TEST(ExpectInDoubt, ASlowTrainingMayHaveASlowNetworkOrSlowLinks) {
  PredictionRequest asked = llama();
  const std::tuple<int, const char*> rows[] = {{8, "the links of a node carry"}, {16, "the network carries"}};
  for (const auto& [gpus, what] : rows) {
    asked.gpus = {gpus};
    const TrainingExpectation found = training(0.2 * training(1, asked).low, asked);
    ASSERT_GE(found.suspicions.size(), 3U);
    const TrainingSuspicion& links = found.suspicions[found.suspicions.size() - 3];
    EXPECT_THAT(links.what, HasSubstr(what));
    EXPECT_TRUE(links.fitted);
  }
}

}  // namespace
}  // namespace hbench::expectation_doubt_test
