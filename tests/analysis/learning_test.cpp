// What trainings have learned, beside the synchronous one: by hand.

#include "analysis/learn/learning.hpp"

#include <fmt/format.h>

#include <cmath>

#include "analysis/records/metrics.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/learning_case.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::learning_test {
namespace {

/// A case whose launches have these accuracies after each epoch of 10 s and 40 steps, the last in the end too.
CaseResult trained(const char* compressor, const char* method, const std::vector<std::vector<double>>& launches) {
  CaseResult result{.asked = learning_case(compressor, static_cast<int>(launches.front().size()))};
  result.asked.evidence = Evidence::measured;
  result.asked.strategy.method = method;
  const auto add = [&](int launch, int epoch, const std::string& metric, double value) {
    result.samples.push_back({.launch = launch, .iteration = epoch, .metric = metric, .value = value});
  };
  for (int launch = 0; launch < std::ssize(launches); ++launch) {
    const auto& accuracies = launches[static_cast<std::size_t>(launch)];
    for (int epoch = 1; epoch <= std::ssize(accuracies) + 1; ++epoch) {
      const int at = std::min<int>(epoch, static_cast<int>(accuracies.size()));
      add(launch, epoch, "learned/accuracy", accuracies[static_cast<std::size_t>(at - 1)]);
      add(launch, epoch, "learned/seconds", 10.0 * at);
      add(launch, epoch, "learned/steps", 40.0 * at);
    }
    // One rank serves itself, and the other sends all.
    add(launch, 0, "sent/within", 0);
    result.samples.push_back({.launch = launch, .rank = 1, .metric = "sent/within", .value = 2000});
    add(launch, 0, "step_seconds", 0.25);
  }
  return result;
}

TEST(Learning, CountsEpochsTimeAndBytesToAnAccuracy) {
  const Learning learning = learning_of({trained("none", "", {{0.5, 0.8, 0.9}, {0.6, 0.92, 0.85}})}, 0.8);
  ASSERT_EQ(learning.cases.size(), 1U);
  const LearnedCase& only = learning.cases[0];
  EXPECT_EQ(only.reached, 2);
  EXPECT_DOUBLE_EQ(only.epochs->value, 2);
  EXPECT_DOUBLE_EQ(only.seconds->value, 20);
  EXPECT_DOUBLE_EQ(only.bytes->value, 80'000);
  EXPECT_DOUBLE_EQ(only.accuracy.value, 0.875) << "in the end, not at its best";
  EXPECT_DOUBLE_EQ(only.samples_per_second, 400);
  EXPECT_FALSE(only.kept) << "it is the reference";
}

TEST(Learning, CountsNoBytesOfAMethodThatBeginsInAnotherWay) {
  EXPECT_TRUE(learning_of({trained("none", "local-sgd:8", {{0.9}})}, 0.8).cases[0].bytes);
  EXPECT_FALSE(learning_of({trained("none", "post-local-sgd:8:20", {{0.9}})}, 0.8).cases[0].bytes);
}

TEST(Learning, TakesAsManyStepsOnAnotherNetwork) {
  const auto simulated = [](const char* compressor, int gpus) {
    CaseResult result{.asked = learning_case(compressor, 0)};
    result.asked.evidence = Evidence::simulated;
    result.asked.gpus = gpus;
    result.asked.profile = "hkbu-10gbe";
    for (const auto& [metric, value] :
         {std::pair("step_seconds", 0.5), std::pair("step_seconds_low", 0.4), std::pair("step_seconds_high", 0.8)})
      result.samples.push_back({.metric = metric, .value = value, .unit = "s"});
    return result;
  };
  const CaseResult measured = trained("topk:0.01", "", {{0.5, 0.8, 0.9}, {0.6, 0.92, 0.85}});
  const Learning learning =
      learning_of({measured, simulated("none", 2), simulated("topk:0.01", 4), simulated("topk:0.01", 2)}, 0.8);
  ASSERT_EQ(learning.cases.size(), 1U) << "what is simulated learns nothing";
  const LearnedElsewhere& there = learning.cases[0].elsewhere.value();
  EXPECT_EQ(there.profile, "hkbu-10gbe");
  EXPECT_EQ(there.step.value, 0.5);
  EXPECT_DOUBLE_EQ(there.seconds->value, 80 * 0.5) << "two epochs of 40 steps";
  EXPECT_DOUBLE_EQ(there.seconds->low, 80 * 0.4);
  EXPECT_DOUBLE_EQ(there.seconds->high, 80 * 0.8);
  EXPECT_FALSE(learning_of({measured, simulated("none", 2)}, 0.8).cases[0].elsewhere);
}

TEST(Learning, HasNoTimeToWhatNotAllLaunchesReach) {
  const Learning learning = learning_of({trained("none", "", {{0.5, 0.9}, {0.5, 0.7}})}, 0.8);
  EXPECT_EQ(learning.cases[0].reached, 1);
  EXPECT_FALSE(learning.cases[0].seconds);
}

// 0.90, 0.92 and 0.94: deviation 0.02, and 4.303 is Student's t of two degrees.
TEST(Learning, HasIntervalsOverLaunches) {
  const LaunchMean mean = mean_over({0.90, 0.92, 0.94});
  EXPECT_NEAR(mean.value, 0.92, 1e-12);
  EXPECT_NEAR(mean.high - mean.value, 4.303 * 0.02 / std::sqrt(3), 1e-5);
  EXPECT_EQ(mean_over({0.9}).low, 0.9);
}

TEST(Learning, SaysWhetherAccuracyIsKept) {
  const CaseResult reference = trained("none", "", {{0.90}, {0.92}, {0.94}});
  const auto kept = [&](std::vector<std::vector<double>> launches) {
    const Learning learning = learning_of({reference, trained("topk:0.01", "", launches)}, 0);
    const auto found = std::ranges::find_if(learning.cases, [](const auto& each) { return each.kept.has_value(); });
    return *found->kept;
  };
  EXPECT_EQ(kept({{0.90}, {0.92}, {0.94}}), AccuracyKept::kept);
  EXPECT_EQ(kept({{0.895}, {0.916}, {0.936}}), AccuracyKept::kept) << "within a point";
  EXPECT_EQ(kept({{0.80}, {0.82}, {0.85}}), AccuracyKept::lost);
  EXPECT_EQ(kept({{0.80}, {0.93}, {0.95}}), AccuracyKept::not_known);
}

TEST(Learning, ComparesTheSameJobAlone) {
  CaseResult other = trained("topk:0.01", "", {{0.8}, {0.8}});
  other.asked.gpus = 4;
  const Learning learning = learning_of({trained("none", "", {{0.9}, {0.9}}), other}, 0);
  for (const LearnedCase& each : learning.cases) EXPECT_FALSE(each.difference);
}

TEST(Learning, PutsTheQuickestFirstAndLeavesOutWhatHasLearnedNothing) {
  CaseResult drawn = trained("none", "", {{0.9}});
  std::erase_if(drawn.samples, [](const Sample& each) { return each.metric.starts_with(metric::kLearned); });
  const Learning learning = learning_of({trained("none", "", {{0.1, 0.9}}), drawn, trained("fp16", "", {{0.9, 0.8}}),
                                         trained("none", "local-sgd:8", {{0.2, 0.3}})},
                                        0.9);
  ASSERT_EQ(learning.cases.size(), 3U);
  EXPECT_EQ(learning.cases[0].asked.strategy.compressor, "fp16");
  EXPECT_EQ(learning.cases[2].asked.strategy.method, "local-sgd:8");
}

TEST(WantedAccuracy, IsBetweenZeroAndOne) {
  EXPECT_DOUBLE_EQ(parse_wanted_accuracy("accuracy=0.9"), 0.9);
  EXPECT_DOUBLE_EQ(parse_wanted_accuracy("88%"), 0.88);
  for (const char* wrong : {"accuracy=1.5", "0", "accuracy=", "loss=0.1", "1", "-0.5", "nan"})
    expect_error([&] { parse_wanted_accuracy(wrong); }, ExitCode::usage,
                 fmt::format("--until {} is no accuracy between 0 and 1", wrong), "write such as accuracy=0.9");
}

}  // namespace
}  // namespace hbench::learning_test
