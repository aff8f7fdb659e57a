// A recorded job beside its prediction on the cluster where it ran.

#include "analysis/job/as_recorded.hpp"

#include <gmock/gmock.h>

#include "tests/analysis/jobs_files.hpp"
#include "tests/analysis/jobs_recording.hpp"
#include "tests/collectives/clusters.hpp"
#include "tests/support/expect_error.hpp"

namespace hbench::as_recorded_test {
namespace {

using support::round_cluster;

constexpr double kTolerance = 1e-7;
constexpr std::int64_t kMemory = 1 << 30;

class AsRecorded : public ::testing::Test {
 protected:
  TrainingJob job(int world = 2) {
    return job_of({file_of(folder_, "trace.json", gloo_steps().text(0, world, "gloo"))});
  }
  TemporaryFolder folder_;
};

// 60 ms of passes, then a ring of two ranks: 2 ms and 0.03 ms for the last 30 elements, then 30 ms of update. It was
// measured with 10 ms of waiting in 100 ms.
TEST_F(AsRecorded, GivesTheSignedErrorAndWhichPartsItComesFrom) {
  Profile profile = round_cluster();
  profile.name = "round";
  const PredictedJob predicted = predict_as_recorded(job(), profile, kMemory);
  EXPECT_EQ(predicted.profile, "round");
  EXPECT_EQ(predicted.strategy, "ring");
  EXPECT_EQ(predicted.ranks, 2);
  EXPECT_EQ(predicted.nodes, 2);
  EXPECT_NEAR(predicted.step.value, 0.09203, kTolerance);
  EXPECT_NEAR(predicted.compute.value, 0.09, kTolerance);
  EXPECT_NEAR(predicted.exposed.value, 0.00203, kTolerance);
  EXPECT_NEAR(predicted.error, -0.0797, 1e-6);
  EXPECT_NEAR(predicted.step_difference.value, -0.00797, kTolerance);
  EXPECT_NEAR(predicted.exposed_difference.value, -0.00797, kTolerance);
  EXPECT_NEAR(predicted.compute_difference.value, 0, kTolerance);
  EXPECT_LE(predicted.low, predicted.step);
  EXPECT_GE(predicted.high, predicted.step);
}

TEST_F(AsRecorded, SendsGradientsOfTwoBytesAsTwoBytes) {
  TrainingJob half = job();
  half.type = "bfloat16";
  const PredictedJob predicted = predict_as_recorded(half, round_cluster(), kMemory);
  EXPECT_EQ(predicted.strategy, "ring + bf16");
  EXPECT_NEAR(predicted.exposed.value, 0.002015, kTolerance);
}

TEST_F(AsRecorded, SaysWhichGpuTheProfileHasUnlessItIsTheRecordedOne) {
  TrainingJob on_gpu = job();
  Profile profile = round_cluster();
  profile.gpu = "a100";
  EXPECT_EQ(predict_as_recorded(on_gpu, profile, kMemory).other_gpu, "a100");
  on_gpu.workload->recorded->gpu = "NVIDIA A100-SXM4-40GB";
  EXPECT_EQ(predict_as_recorded(on_gpu, profile, kMemory).other_gpu, "");
}

TEST_F(AsRecorded, RefusesWhatLeavesNothingToCompare) {
  const Profile profile = round_cluster();
  const auto expect_refused = [&](auto change, const char* message, const char* cure) {
    TrainingJob changed = job();
    change(changed);
    expect_usage_error([&] { predict_as_recorded(changed, profile, kMemory); }, message, cure);
  };
  expect_refused([](TrainingJob& job) { job.buckets.clear(); },
                 "--profile: the job exchanges no gradients, so that nothing is left to predict", "several ranks");
  expect_refused([](TrainingJob& job) { job.ranks = 0; }, "--profile: the number of ranks is not in the file",
                 "--ranks");
  expect_refused(
      [](TrainingJob& job) {
        job.workload.reset();
        job.recordings[0].file = "my.json";
        job.unknown = {"no sizes"};
      },
      "my.json holds too little to predict it", "no sizes");
}

TEST_F(AsRecorded, RefusesMoreRanksThanTheClusterHas) {
  Profile profile = round_cluster();
  profile.name = "two";
  profile.most_nodes = 2;
  expect_usage_error([&] { predict_as_recorded(job(4), profile, kMemory); },
                     "--profile two: it has 2 GPUs at most, and the job 4", "where it ran");
}

// Two A100 of one node by NCCL: from the profile alone, within a tenth.
TEST_F(AsRecorded, OfARealJobIsWithinATenthOfItsStep) {
  HBENCH_REFERENCE_TRACE(file, "ddp_resnet50_2xa100.json.gz");
  JobRequest request;
  request.known.push_back(TraceLibrary(HBENCH_SOURCE_DIR "/workloads/traces").load("resnet50"));
  const TrainingJob real = job_of({file}, request);
  const ProfileLibrary profiles(HBENCH_SOURCE_DIR "/cluster-profiles");
  for (const char* name : {"aws-p4d", "dgx-a100"}) {
    const PredictedJob predicted = predict_as_recorded(real, profiles.load(name), kMemory);
    EXPECT_LT(std::abs(predicted.error), 0.1) << name;
    EXPECT_LE(predicted.low, real.step) << name;
    EXPECT_GE(predicted.high, real.step) << name;
  }
}

}  // namespace
}  // namespace hbench::as_recorded_test
