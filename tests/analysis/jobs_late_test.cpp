// Jobs that reduce their gradients in one go after the backward pass.

#include "analysis/job/as_recorded.hpp"
#include "tests/analysis/jobs_files.hpp"
#include "tests/analysis/jobs_recording.hpp"
#include "tests/collectives/clusters.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::jobs_late_test {
namespace {

/// An all-reduce after the backward pass; times since the step began.
struct Late {
  int elements;
  double called, begun, ended;
  std::string group = "";
};

/// Two steps of 100 ms without hooks: forward 20, backward 40 with three gradients of 10, 20 and 30 elements, then
/// these exchanges on the processor with Gloo, then the optimizer from 75.
TraceText late_steps(const std::vector<Late>& exchanges, bool sizes = true) {
  TraceText trace;
  for (int step = 0; step < 2; ++step) {
    const double at = 100.0 * step;
    trace.mark(fmt::format("ProfilerStep#{}", step + 3), at, at + 100);
    trace.host("autograd::engine::evaluate_function: AddmmBackward0", at + 20, at + 29, 2);
    for (const auto& [end, elements] : {std::pair(30, 10), {40, 20}, {60, 30}})
      trace.gradient(at + end - 1, at + end, sizes ? elements : 0);
    for (const Late& each : exchanges) {
      trace.host("c10d::allreduce_", at + each.called, at + each.called + 0.1, 1,
                 fmt::format(R"("Input Dims": [[[{}]], []], "Process Group Name": "{}")", each.elements, each.group));
      trace.mark("gloo:all_reduce", at + each.begun, at + each.ended, 3,
                 fmt::format(R"("Input Dims": [[{}]], "Input type": ["float"])", each.elements));
    }
    trace.mark("Optimizer.step#SGD.step", at + 75, at + 99);
  }
  return trace;
}

class LateExchanges : public ::testing::Test {
 protected:
  TrainingJob job(const std::vector<Late>& exchanges, bool sizes = true) {
    return job_of({file_of(folder_, "trace.json", late_steps(exchanges, sizes).text())});
  }
  TemporaryFolder folder_;
};

TEST_F(LateExchanges, CarryTheGradientsWhereTheirElementsAddUp) {
  const TrainingJob one = job({{60, 62, 63, 72}});
  EXPECT_FALSE(one.overlaps);
  ASSERT_EQ(one.buckets.size(), 1U);
  EXPECT_EQ(one.buckets[0].elements, 60);
  EXPECT_EQ(one.buckets[0].tensors, 3);
  EXPECT_THAT(one.others, IsEmpty());
  EXPECT_NEAR(one.exposed.value, 0.012, 1e-9);
  EXPECT_NEAR(one.update.value, 0.028, 1e-9);
  ASSERT_TRUE(one.replayed);
  EXPECT_NEAR(one.replayed->value, 0.099, 1e-9) << "the exchange is 9 ms, after 1 ms on its way to its thread";
  ASSERT_TRUE(one.workload);
  EXPECT_THAT(one.workload->buckets, ElementsAre(3));
  EXPECT_FALSE(one.workload->recorded->overlap);
  EXPECT_NEAR(one.workload->timeline.gradients[0].ready.value, 0.010, 1e-9) << "as it was computed";
}

TEST_F(LateExchanges, MayBeLaunchedInTheOrderOfParameters) {
  const TrainingJob each = job({{30, 61, 61, 64}, {20, 64, 64, 67}, {10, 67, 67, 70}});
  EXPECT_FALSE(each.overlaps);
  ASSERT_EQ(each.buckets.size(), 3U);
  EXPECT_EQ(each.buckets[0].elements, 10) << "in the order of gradients";
  EXPECT_THAT(each.workload->buckets, ElementsAre(1, 1, 1));
  EXPECT_NEAR(each.replayed->value, 0.1, 1e-9);
}

TEST_F(LateExchanges, OfWhichNobodyKnowsWhatTheyHoldAreTheirOwnGradients) {
  const TrainingJob mixed = job({{40, 61, 61, 64}, {20, 64, 64, 67}});
  EXPECT_FALSE(mixed.overlaps);
  ASSERT_TRUE(mixed.workload);
  ASSERT_EQ(mixed.workload->timeline.gradients.size(), 2U);
  EXPECT_EQ(mixed.workload->timeline.gradients[0].elements, 40);
  EXPECT_NEAR(mixed.workload->timeline.backward.value, 0.04, 1e-9) << "they are ready at its end";
}

TEST_F(LateExchanges, MayHaveALossBesideThem) {
  const TrainingJob one = job({{1, 61, 61, 61.5}, {60, 62, 63, 72}});
  EXPECT_FALSE(one.overlaps);
  ASSERT_EQ(one.buckets.size(), 1U);
  ASSERT_EQ(one.others.size(), 1U);
  EXPECT_EQ(one.others[0].elements, 1);
  EXPECT_EQ(job({{30, 61, 61, 64}, {20, 64, 64, 67}, {10, 67, 67, 70}, {1, 70, 70, 71}}).buckets.size(), 3U);
}

TEST_F(LateExchanges, CarryTheGradientsWhateverOtherGroupsExchangeBesideThem) {
  const TrainingJob one = job({{7, 61, 61, 61.5, "experts"}, {60, 62, 63, 72, "data"}});
  EXPECT_FALSE(one.overlaps);
  ASSERT_EQ(one.buckets.size(), 1U);
  EXPECT_EQ(one.buckets[0].elements, 60);
}

TEST_F(LateExchanges, OfWhichSeveralWouldFitCarryNoGradients) {
  EXPECT_TRUE(job({{60, 61, 61, 64}, {60, 64, 64, 67}}).overlaps);
}

TEST_F(LateExchanges, ThatDoNotAddUpCarryNoGradients) {
  for (const int elements : {59, 61, 120}) {
    const TrainingJob other = job({{elements, 62, 63, 72}});
    EXPECT_TRUE(other.overlaps) << elements;
    EXPECT_THAT(other.buckets, IsEmpty()) << elements;
    ASSERT_EQ(other.others.size(), 1U) << elements;
    EXPECT_EQ(other.others[0].elements, elements);
  }
}

// As DeepSpeed's last bucket, which leaves after the backward pass.
TEST_F(LateExchanges, CarryTheRestOfGradientsOfWhichOthersLeftInTheBackwardPass) {
  for (const bool sizes : {true, false}) {
    const TrainingJob rest = job({{30, 40, 41, 50}, {1, 60.5, 60.5, 60.6}, {30, 61, 62, 71}}, sizes);
    EXPECT_TRUE(rest.overlaps);
    ASSERT_EQ(rest.buckets.size(), 2U) << sizes;
    EXPECT_NEAR(rest.exposed.value, 0.011, 1e-9);
    EXPECT_NEAR(rest.communication.value, 0.018, 1e-9);
    ASSERT_EQ(rest.others.size(), 1U);
    EXPECT_EQ(rest.others[0].elements, 1) << "a loss";
    if (!sizes) continue;
    EXPECT_EQ(rest.buckets[1].tensors, 1);
    EXPECT_THAT(rest.workload->buckets, ElementsAre(2, 1));
  }
  EXPECT_EQ(job({{30, 40, 41, 50}, {20, 61, 62, 71}}).buckets.size(), 1U) << "they do not add up";
  EXPECT_EQ(job({{30, 40, 41, 50}, {20, 61, 62, 71}}, false).buckets.size(), 1U) << "they are not alike";
  EXPECT_EQ(job({{30, 40, 41, 50, "data"}, {30, 61, 62, 71, "model"}}).buckets.size(), 1U);
}

TEST_F(LateExchanges, AreStillLateInAWorkloadsFileAndWherePredicted) {
  const TrainingJob one = job({{60, 62, 63, 72}});
  Trace written = *one.workload;
  written.name = "mine";
  const std::string text = format_trace(written);
  EXPECT_THAT(text, HasSubstr("overlap = false"));
  EXPECT_FALSE(parse_trace(text, "mine.toml").recorded->overlap);
  Profile profile = support::round_cluster();
  profile.name = "round";
  const PredictedJob predicted = predict_as_recorded(one, profile, 1 << 30);
  EXPECT_GT(predicted.exposed.value, 0.002);
  EXPECT_NEAR(predicted.compute.value, 0.088, 1e-6);
}

}  // namespace
}  // namespace hbench::jobs_late_test
