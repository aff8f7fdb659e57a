// What the parent takes in of the ranks of a measured training case.

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/records/machine_facts.hpp"
#include "bench/sweep/measure.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::measure_test {
namespace {

/// A rank that was held back in its second step.
constexpr const char* kRank = R"(#!/bin/sh
echo '{"hello":{"rank":0,"pid":1}}'
echo '{"step":{"rank":0,"iteration":0,"warmup":false,"seconds":1,"exposed":0}}'
echo '{"step":{"rank":0,"iteration":1,"warmup":false,"seconds":2,"exposed":0}}'
echo '{"samples":{"rank":0,"case":0,"metric":"step_clock_reasons","unit":"NVML bits","warmup":false,"first":0,"values":[0,64]}}'
echo '{"done":{"rank":0,"digest":""}}'
)";

TEST(MeasuredCase, KeepsWhatARankSaysOfItsGpu) {
  const TemporaryFolder folder;
  write_program(folder / "rank", kRank);
  Case asked;
  asked.evidence = Evidence::measured;
  asked.strategy.algorithm = "none";
  const CaseResult result = measure(asked, {.program = (folder / "rank").string(), .launches = 2}, [](int) {});
  EXPECT_EQ(result.status, CaseStatus::done) << result.failure;
  const ThrottledShare share = throttled_share(result, "step_seconds");
  EXPECT_EQ(share.iterations, 4U) << "two of each launch";
  EXPECT_EQ(share.throttled, 2U);
  EXPECT_EQ(share.reasons, clock_reason::kHardwareThermal);
}

TEST(MeasuredCase, KeepsHowBusyTheMachineWas) {
  const TemporaryFolder folder;
  write_program(folder / "rank", kRank);
  Case asked;
  asked.evidence = Evidence::measured;
  asked.strategy.algorithm = "none";
  const LaunchOutcome outcome = measure_launch(asked, {.program = (folder / "rank").string()}, 4);
  const auto of = [&](std::string_view name) {
    return std::ranges::count_if(outcome.samples,
                                 [&](const Sample& sample) { return sample.metric == name && sample.launch == 4; });
  };
  EXPECT_EQ(of(metric::kLaunchBegan), 1);
  EXPECT_EQ(of(metric::kLoadAverage), 2) << "before and after";
  EXPECT_EQ(of("step_seconds"), 2);
}

/// A rank with one traced step, whose clock began long ago.
constexpr const char* kTracedRank = R"(#!/bin/sh
echo '{"hello":{"rank":0,"pid":1}}'
echo '{"step":{"rank":0,"iteration":0,"warmup":false,"seconds":1,"exposed":0.25}}'
echo '{"spans":{"rank":0,"iteration":1,"spans":[[0,0,5000000000,100000000,-1],[1,0,5000000000,30000000,-1]]}}'
echo '{"spans":{"rank":0,"iteration":1,"spans":[[2,0,5030000000,50000000,-1],[3,0,5080000000,20000000,-1]]}}'
echo '{"done":{"rank":0,"digest":""}}'
)";

TEST(MeasuredCase, KeepsWhereTheTimeOfTracedStepsGoes) {
  const TemporaryFolder folder;
  write_program(folder / "rank", kTracedRank);
  Case asked;
  asked.evidence = Evidence::measured;
  asked.strategy.algorithm = "none";
  const LaunchOutcome outcome = measure_launch(asked, {.program = (folder / "rank").string()}, 2);
  ASSERT_EQ(outcome.traced.size(), 1U);
  EXPECT_EQ(outcome.traced[0].launch, 2);
  EXPECT_EQ(outcome.traced[0].iteration, 1);
  ASSERT_EQ(outcome.traced[0].spans.size(), 4U);
  EXPECT_EQ(outcome.traced[0].spans[0].begin.value, 0) << "since the launch's first span";
  const auto value_of = [&](std::string_view name) {
    const auto found = std::ranges::find(outcome.samples, name, &Sample::metric);
    return found == outcome.samples.end() ? -1 : found->value;
  };
  EXPECT_NEAR(value_of("ledger/compute"), 0.08, 1e-6);
  EXPECT_NEAR(value_of("ledger/negotiation"), 0.02, 1e-6) << "nothing was in flight while it waited";
  EXPECT_NEAR(value_of("backward_seconds"), 0.05, 1e-6);
  EXPECT_EQ(value_of("wait_seconds"), 0.25) << "of the timed step";
  EXPECT_EQ(value_of("test_delay_seconds"), -1);
}

TEST(MeasuredCase, OfWhichALaunchFailsHasNoStepsOfIt) {
  const TemporaryFolder folder;
  write_program(folder / "rank", std::string(kRank) + "exit 7\n");
  Case asked;
  asked.evidence = Evidence::measured;
  asked.strategy.algorithm = "none";
  const LaunchOutcome outcome = measure_launch(asked, {.program = (folder / "rank").string()}, 1);
  EXPECT_NE(outcome.code, ExitCode::good);
  EXPECT_TRUE(outcome.reason.starts_with("launch 2: ")) << outcome.reason;
  ASSERT_EQ(outcome.samples.size(), 1u);
  EXPECT_EQ(outcome.samples[0].metric, metric::kLaunchLost);
}

TEST(SharedGpus, AreTheFirstOfThoseThatAProcessSees) {
  EXPECT_EQ(first_gpus(nullptr, 2), "0,1");
  EXPECT_EQ(first_gpus("", 1), "0");
  EXPECT_EQ(first_gpus("3,5,7", 2), "3,5");
  EXPECT_EQ(first_gpus("3,5", 2), "3,5");
  EXPECT_EQ(first_gpus("3", 2), "3") << "no more than there are";
}

}  // namespace
}  // namespace hbench::measure_test
