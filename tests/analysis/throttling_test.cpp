#include "analysis/records/machine_facts.hpp"

#include <gtest/gtest.h>

namespace hbench::throttling_test {
namespace {

using namespace clock_reason;

TEST(Throttling, WhatWasSetSoOrIsIdleDoesNotHoldBack) {
  for (const std::uint64_t reasons : {std::uint64_t{0}, kIdle, kApplicationClocks, kSyncBoost, kDisplayClocks,
                                      kIdle | kApplicationClocks | kSyncBoost | kDisplayClocks}) {
    EXPECT_EQ(throttling_of(reasons), Throttling::none) << reasons;
    EXPECT_EQ(throttling_text(reasons), "") << reasons;
  }
}

TEST(Throttling, HeatAndPowerSupplyHoldBack) {
  for (const std::uint64_t reason : {kHardwareSlowdown, kThermal, kHardwareThermal, kPowerBrake}) {
    EXPECT_EQ(throttling_of(reason), Throttling::throttled) << reason;
    EXPECT_EQ(throttling_of(reason | kPowerCap | kIdle), Throttling::throttled) << "the worse counts: " << reason;
    EXPECT_NE(throttling_text(reason), "") << reason;
  }
}

TEST(Throttling, ThePowerCapHasAWordOfItsOwn) {
  EXPECT_EQ(throttling_of(kPowerCap), Throttling::power_cap);
  EXPECT_EQ(throttling_of(kPowerCap | kApplicationClocks), Throttling::power_cap);
  EXPECT_EQ(throttling_text(kPowerCap | kApplicationClocks), "power cap");
}

TEST(Throttling, AReasonThatNobodyKnowsIsNotHidden) {
  EXPECT_EQ(throttling_of(0x8000), Throttling::throttled);
  EXPECT_EQ(throttling_text(0x8000 | kPowerBrake), "power brake, unknown reason 0x8000");
}

// NVML API Reference: SW power cap 4, HW slowdown 8, HW thermal 64, HW power brake 128.
TEST(Throttling, BitsAreThoseOfNvml) { EXPECT_EQ(throttling_text(8 + 64), "hardware slowdown, too hot (hardware)"); }

TEST(Throttling, OfATimeHasAMetricBesideIt) {
  EXPECT_EQ(clock_reasons_metric("in_place_seconds"), "in_place_clock_reasons");
  EXPECT_EQ(clock_reasons_metric("step_seconds"), "step_clock_reasons");
}

Sample reasons_of(int launch, int rank, int iteration, std::uint64_t reasons, bool warmup = false) {
  return {.launch = launch,
          .rank = rank,
          .iteration = iteration,
          .warmup = warmup,
          .metric = "step_clock_reasons",
          .value = static_cast<double>(reasons),
          .unit = std::string(kReasonBits)};
}

TEST(ThrottledShare, CountsAnIterationByItsWorstRank) {
  CaseResult result;
  result.samples = {reasons_of(0, 0, 0, kHardwareThermal, true),  // warm-up
                    reasons_of(0, 0, 0, 0),
                    reasons_of(0, 1, 0, kIdle),  // free
                    reasons_of(0, 0, 1, kPowerCap),
                    reasons_of(0, 1, 1, 0),  // capped
                    reasons_of(0, 0, 2, kPowerCap),
                    reasons_of(0, 1, 2, kPowerBrake),  // throttled
                    reasons_of(1, 0, 2, kThermal)};    // throttled, another launch
  const ThrottledShare share = throttled_share(result, "step_seconds");
  EXPECT_EQ(share.iterations, 4U);
  EXPECT_EQ(share.throttled, 2U);
  EXPECT_EQ(share.power_capped, 1U);
  EXPECT_EQ(share.reasons, kIdle | kPowerCap | kPowerBrake | kThermal);
  EXPECT_EQ(share.worst(), Throttling::throttled);
}

TEST(ThrottledShare, IsOfNothingWhereNobodyLooked) {
  CaseResult result;
  result.samples = {{.metric = "step_seconds", .value = 1, .unit = "s"}, reasons_of(0, 0, 0, kPowerCap)};
  EXPECT_EQ(throttled_share(result, "in_place_seconds").iterations, 0U);
  EXPECT_EQ(throttled_share(result, "in_place_seconds").worst(), Throttling::none);
  EXPECT_EQ(throttled_share(result, "step_seconds").worst(), Throttling::power_cap);
}

}  // namespace
}  // namespace hbench::throttling_test
