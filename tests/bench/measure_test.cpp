// What the parent takes in of the ranks of a measured training case.

#include <gtest/gtest.h>

#include "analysis/throttling.hpp"
#include "bench/measure.hpp"
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
  write_bytes(folder / "rank", kRank);
  std::filesystem::permissions(folder / "rank", std::filesystem::perms::owner_all);
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

}  // namespace
}  // namespace hbench
