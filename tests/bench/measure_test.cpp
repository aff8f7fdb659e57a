// What the parent takes in of the ranks of a measured training case.

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/machine_load.hpp"
#include "analysis/throttling.hpp"
#include "bench/sweep/measure.hpp"
#include "tests/analysis/temporary_folder.hpp"

namespace hbench {
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

}  // namespace
}  // namespace hbench
