/// A measured training beside what its cluster lets expect.

#include "analysis/expect/expectation.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "analysis/prediction/plan.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/prediction/slow_causes.hpp"
#include "analysis/prediction/varied_network.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::training_expectation_test {
namespace {

Data data() {
  return {ProfileLibrary(HBENCH_SOURCE_DIR "/cluster-profiles"), TraceLibrary(HBENCH_SOURCE_DIR "/workloads/traces")};
}

PredictionRequest request(int gpus = 32) {
  PredictionRequest request;
  request.gpus = {gpus};
  request.workloads = {"vgg16"};
  request.profiles = {"dgx-1-v100"};
  request.algorithms = {"ring"};
  request.compressors = {"none"};
  request.evidence = {Evidence::simulated};
  return request;
}

TrainingExpectation expectation(double rate, const PredictionRequest& asked = request()) {
  return expect_training(asked, rate, data(), {});
}

/// Samples/s of a training on a cluster with something wrong.
double rate_on(const Profile& sick, const Case& asked) {
  const Data known = data();
  Catalog catalog;
  catalog.profiles.emplace(sick.name, sick);
  catalog.traces.emplace(asked.workload, known.traces.load(asked.workload));
  return asked.batch_per_gpu * asked.gpus / SimulatedRunner(catalog).step(planned(asked)).step().value;
}

TEST(ExpectTraining, CallsNormalWhatIsInTheBandAndImpossibleWhatTheGpusDoNotCompute) {
  const TrainingExpectation found = expectation(1);
  EXPECT_EQ(expectation(found.expected).normality(), Normality::pass);
  EXPECT_EQ(expectation(1.01 * found.low).normality(), Normality::pass);
  EXPECT_EQ(expectation(0.99 * found.low).normality(), Normality::slow);
  EXPECT_EQ(expectation(1.01 * found.high).normality(), Normality::fast);
  EXPECT_EQ(expectation(1.01 * found.peak).normality(), Normality::error);
  EXPECT_LE(found.low, found.expected);
  EXPECT_LE(found.expected, found.alone);
  EXPECT_THAT(expectation(found.expected).suspicions, IsEmpty());
}

TEST(ExpectTraining, FindsWhatIsWrongWithTheNetworkAmongWhatExplainsIt) {
  const Profile healthy = data().profiles.load("dgx-1-v100");
  const Case asked = expectation(1).asked;
  int found = 0;
  for (const SlowCause& cause : slow_causes()) {
    const std::optional<Profile> sick = cause.on(healthy, true);
    if (!sick) continue;
    const TrainingExpectation slow = expectation(rate_on(*sick, asked));
    if (slow.normality() != Normality::slow) continue;
    ++found;
    EXPECT_EQ(slow.suspicions.front().what, cause.what);
    EXPECT_NEAR(slow.suspicions.front().off, 0, 1e-9);
  }
  EXPECT_GE(found, 1) << "sockets are slow for VGG-16";
}

TEST(ExpectTraining, SaysHowSlowAGpuOrHowLateAHostWouldBe) {
  const TrainingExpectation found = expectation(0.1 * expectation(1).expected);
  ASSERT_GE(found.suspicions.size(), 2U);
  const TrainingSuspicion& gpu = found.suspicions[found.suspicions.size() - 2];
  EXPECT_TRUE(gpu.fitted);
  EXPECT_THAT(gpu.what, HasSubstr("a GPU trains"));
  EXPECT_THAT(found.suspicions.back().what, HasSubstr("s of each step"));
  // Of nine tenths of the step that are missing.
  const double samples = found.asked.batch_per_gpu * found.asked.gpus;
  EXPECT_THAT(found.suspicions.back().what,
              StartsWith(format(Seconds(samples / found.measured - samples / found.expected))));
}

TEST(ExpectTraining, KnowsTheRateOfOneGpuAndStepsForWhatTheyAre) {
  const TrainingExpectation all = expectation(1);
  const double samples = all.asked.batch_per_gpu * all.asked.gpus;
  EXPECT_EQ(expectation(all.expected / 32).suspicions.front().what, "it is the rate of one GPU, not of all 32");
  EXPECT_EQ(expectation(all.expected / samples).suspicions.front().what, "it is in steps/s");
  PredictionRequest two = request(2);
  two.profiles = {"hkbu-10gbe"};
  const auto of_two = expectation(expectation(1, two).expected / 2, two).suspicions;
  EXPECT_THAT(of_two.front().what, Not(HasSubstr("rate of one GPU"))) << "half has many causes";
}

TEST(ExpectTraining, KnowsWhatTheGpusCannotCompute) {
  const TrainingExpectation found = expectation(1);
  // 32 V100 of 125 TFLOP/s in fp16, and three times the 15.5 GMAC of a forward pass; memory takes its share.
  EXPECT_LT(found.peak, 32 * 125e12 / (6 * 15.47e9));
  EXPECT_GT(found.peak, 2 * found.alone);
}

TEST(ExpectTraining, NamesCausesOfARateFarBelowTheExpectedOneInAWideBand) {
  PredictionRequest asked = request(16);
  asked.profiles = {"aws-p3dn-tcp"};
  const TrainingExpectation found = expectation(546.9, asked);  // github.com/horovod/horovod/issues/2581
  EXPECT_EQ(found.normality(), Normality::inconclusive);
  // One stream there carries as much as an interface of 10 Gbit/s does: which of them it is nobody sees from outside.
  std::vector<std::string> first;
  for (const TrainingSuspicion& each : std::span(found.suspicions).first(2)) first.push_back(each.what);
  EXPECT_THAT(first, Contains(HasSubstr("one TCP stream")));
}

TEST(ExpectTraining, NamesTcpFarBelowItsLineWhereNothingElseIsSoSlow) {
  PredictionRequest asked = request(16);
  asked.profiles = {"aws-p3-25gbe"};
  // 2 Gbit/s of the line's 25 between two nodes, as in github.com/facebookresearch/fairseq/issues/277.
  const Profile healthy = data().profiles.load("aws-p3-25gbe");
  const double rate = rate_on(with_network_rate(healthy, BytesPerSecond(2e9 / 8)), expectation(1, asked).asked);
  const TrainingExpectation found = expectation(rate, asked);
  EXPECT_EQ(found.normality(), Normality::slow);
  EXPECT_THAT(found.suspicions.front().what, HasSubstr("TCP far below its line"));
  EXPECT_FALSE(found.suspicions.front().fitted);
}

TEST(ExpectTraining, RefusesOneGpuAndSeveralStrategies) {
  PredictionRequest both = request();
  both.algorithms = {"ring", "ps"};
  for (const PredictionRequest& asked : {request(1), both})
    expect_error([&] { expectation(100, asked); }, ExitCode::usage, testing::_, testing::_);
}

}  // namespace
}  // namespace hbench::training_expectation_test
