#include "collectives/network/collective_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/collectives/clusters.hpp"

namespace hbench::collective_model_test {
namespace {

using namespace ::hbench::support;

const AlgorithmChoice kRing = parse_algorithm("ring");
const AlgorithmChoice kLibrary = parse_algorithm("vendor");

/// A curve of the ring on four nodes: 10 ms at 4000 bytes, 40 ms at 16,000; the model says 2 * 3 * (1 + 0.25) ms and
/// 2 * 3 * (1 + 1) ms.
Profile with_curve(std::string algorithm = "ring") {
  Profile profile = round_cluster();
  profile.curves.push_back({.algorithm = std::move(algorithm),
                            .ranks = 4,
                            .nodes = 4,
                            .source = "test",
                            .points = {{4000, Seconds(10e-3)}, {16'000, Seconds(40e-3)}}});
  return profile;
}

void expect_time(const CollectiveModel::Answer& answer, double seconds, TimeBasis basis) {
  EXPECT_NEAR(answer.time.value, seconds, 1e-12);
  EXPECT_EQ(answer.basis, basis) << to_string(answer.basis);
}

TEST(CollectiveModel, SimulatesASchedule) {
  const Profile profile = round_cluster();
  CollectiveModel model(profile, {.workers = 4});
  expect_time(model.answer(kRing, kPlain, 4000), ring_time(profile, 4, 4000), TimeBasis::model);
  expect_time(model.answer(kRing, kHalf, 4000), ring_time(profile, 4, 4000, kHalf), TimeBasis::model);
}

// Pairs have links of their own; every second GPU has only those of the whole node to the next but one.
TEST(CollectiveModel, GroupsWithinNodesHaveTheLinksOfTheirGpus) {
  Profile profile = without_latency(round_cluster());
  profile.gpus_per_node = 4;
  const auto time = [&](const RankGroups& groups) {
    return CollectiveModel(profile, {.workers = 8}, {}, groups).answer(kRing, kPlain, 1'000'000).time.value;
  };
  const double pair = time({.size = 2}), others = time({.size = 2, .stride = 2});
  EXPECT_EQ(pair, others);
  profile.local_factors = {{2, 4}};
  EXPECT_NEAR(time({.size = 2}), pair / 4, 1e-12);
  EXPECT_EQ(time({.size = 2, .stride = 2}), others);
}

// A kernel's 6.7 us are added to the call; one rank has nothing to call for.
TEST(CollectiveModel, AddsWhatACallCosts) {
  Profile profile = round_cluster();
  profile.call_latency = Seconds(5e-6);
  for (const int workers : {2, 4}) {
    CollectiveModel model(profile, {.workers = workers});
    expect_time(model.answer(kRing, kPlain, 4000), 11.7e-6 + ring_time(profile, workers, 4000), TimeBasis::model);
  }
  EXPECT_EQ(CollectiveModel(profile, {.workers = 1}).answer(kRing, kPlain, 4000).time.value, 0);
}

TEST(CollectiveModel, AsksTheModelOfTheVendorsLibrary) {
  const Profile profile = round_cluster();
  CollectiveModel model(profile, {.workers = 4});
  expect_time(model.answer(kLibrary, kPlain, 1000),
              library_time(profile, CollectiveKind::all_reduce, 4, Bytes(4000)).time.value, TimeBasis::model);
}

/// Half of the bytes, and a cast of all before the call and after it: each reads 4 bytes and writes 2, or the reverse.
TEST(CollectiveModel, CastsBeforeTheLibraryIsCalledAndAfterIt) {
  Profile profile = round_cluster();
  profile.memory_rate = BytesPerSecond(1e6);
  const CompressorChoice cast = parse_compressor("fp16");
  CollectiveModel model(profile, {.workers = 4});
  expect_time(model.answer(kLibrary, cast.encoding(), 1000),
              library_time(profile, CollectiveKind::all_reduce, 4, Bytes(2000)).time.value + 2 * 6000 / 1e6,
              TimeBasis::model);
}

TEST(CollectiveModel, TakesACurveWithinItsSizes) {
  for (const AlgorithmChoice& algorithm : {kRing, kLibrary}) {
    const Profile profile = with_curve(algorithm.text());
    CollectiveModel model(profile, {.workers = 4});
    expect_time(model.answer(algorithm, kPlain, 1000), 10e-3, TimeBasis::curve);
    expect_time(model.answer(algorithm, kPlain, 2000), 20e-3, TimeBasis::curve);
    expect_time(model.answer(algorithm, kPlain, 4000), 40e-3, TimeBasis::curve);
  }
}

TEST(CollectiveModel, ScalesTheModelByTheNearestEndOfACurve) {
  const Profile profile = with_curve();
  CollectiveModel model(profile, {.workers = 4});
  expect_time(model.answer(kRing, kPlain, 500), ring_time(profile, 4, 500) * 10 / 7.5, TimeBasis::scaled);
  expect_time(model.answer(kRing, kPlain, 8000), ring_time(profile, 4, 8000) * 40 / 12, TimeBasis::scaled);
  expect_time(model.answer(kRing, kPlain, 64 * 4000), ring_time(profile, 4, 64 * 4000) * 40 / 12, TimeBasis::scaled);
  expect_time(model.answer(kRing, kPlain, 64 * 4000 + 1), ring_time(profile, 4, 64 * 4000 + 1), TimeBasis::model);
  expect_time(model.answer(kRing, kPlain, 1000 / 64), ring_time(profile, 4, 1000 / 64), TimeBasis::model);
}

TEST(CollectiveModel, KeepsACurveToItsQuestion) {
  const Profile profile = with_curve();
  EXPECT_EQ(CollectiveModel(profile, {.workers = 8}).answer(kRing, kPlain, 1000).basis, TimeBasis::model);
  CollectiveModel model(profile, {.workers = 4});
  EXPECT_EQ(model.answer(kLibrary, kPlain, 1000).basis, TimeBasis::model);
  EXPECT_EQ(model.answer(kRing, kHalf, 1000).basis, TimeBasis::model) << "what is encoded is another question";
  const AlgorithmChoice gather = parse_algorithm("ring", CollectiveKind::all_gather);
  EXPECT_EQ(model.answer(gather, kPlain, 1000).basis, TimeBasis::model);
  Profile dense = with_curve();
  dense.gpus_per_node = 2;
  EXPECT_EQ(CollectiveModel(dense, {.workers = 4}).answer(kRing, kPlain, 1000).basis, TimeBasis::model)
      << "on two nodes";
}

TEST(CurveErrors, AreLogarithmsOfModelOverMeasured) {
  const Profile profile = with_curve();
  const CurveErrors errors = model_errors(profile, profile.curves[0]);
  ASSERT_EQ(errors.logarithms.size(), 2u);
  EXPECT_NEAR(errors.logarithms[0], std::log(7.5 / 10), 1e-9);
  EXPECT_NEAR(errors.logarithms[1], std::log(12.0 / 40), 1e-9);
  EXPECT_NEAR(errors.worst(), std::log(12.0 / 40), 1e-9);
  EXPECT_NEAR(errors.mean_size(), -(std::log(7.5 / 10) + std::log(12.0 / 40)) / 2, 1e-9);
  EXPECT_EQ(model_errors(profile, profile.curves[0], 4001, 16'000).logarithms.size(), 1u);
  EXPECT_EQ(model_errors(profile, profile.curves[0], 4000, 15'999).logarithms.size(), 1u);
}

TEST(CurveErrors, OfInterpolationLeaveEverySecondSizeOut) {
  MeasuredCurve curve = with_curve().curves[0];
  curve.points = {{1000, Seconds(1)}, {2000, Seconds(4)}, {4000, Seconds(4)}, {8000, Seconds(5)}};
  const CurveErrors errors = interpolation_errors(curve);
  ASSERT_EQ(errors.logarithms.size(), 1u) << "the ends are known";
  EXPECT_NEAR(errors.logarithms[0], std::log(2.0 / 4), 1e-12);
  EXPECT_EQ(interpolation_errors(curve, 2000, 2000).logarithms.size(), 1U) << "both ends count";
  EXPECT_TRUE(interpolation_errors(curve, 2001).logarithms.empty());
  EXPECT_TRUE(interpolation_errors(curve, 0, 1999).logarithms.empty());
  EXPECT_TRUE(interpolation_errors(curve, 3000).logarithms.empty());
  EXPECT_EQ(interpolation_errors(curve, 3000).mean_size(), 0);
}

}  // namespace
}  // namespace hbench::collective_model_test
