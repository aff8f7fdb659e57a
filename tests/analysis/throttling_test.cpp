#include "analysis/throttling.hpp"

#include <gtest/gtest.h>

namespace hbench {
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

}  // namespace
}  // namespace hbench
