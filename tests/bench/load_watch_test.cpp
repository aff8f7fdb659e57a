#include <gmock/gmock.h>

#include <chrono>

#include "analysis/records/machine_facts.hpp"
#include "bench/launch/process.hpp"
#include "bench/sweep/measure.hpp"

namespace hbench::load_watch_test {
namespace {

constexpr std::string_view kStat =
    "cpu  1000 10 500 9000 50 5 6 70 8 9\n"
    "cpu0 100 1 50 900 5 1 2 7 8 9\n"
    "cpu1 200 2 60 800 6 3 4 8 0 0\n"
    "cpu10 9000 9 9 9 9 9 9 9 9 9\n"
    "intr 12345\n";

// User, nice, system, irq and softirq: 100 + 1 + 50 + 1 + 2, and 200 + 2 + 60 + 3 + 4. Guests' time is in that of
// users.
TEST(CpuTimes, AreThoseOfTheCoresAskedFor) {
  EXPECT_EQ(parse_cpu_times(kStat, {0}), (CpuTimes{154, 7}));
  EXPECT_EQ(parse_cpu_times(kStat, {0, 1}), (CpuTimes{423, 15}));
}

TEST(CpuTimes, AreUnknownWhereACoreIsMissingOrALineIsCutShort) {
  EXPECT_EQ(parse_cpu_times(kStat, {0, 2}), std::nullopt);
  EXPECT_EQ(parse_cpu_times("cpu0 1 2 3\n", {0}), std::nullopt);
  EXPECT_EQ(parse_cpu_times("", {0}), std::nullopt);
  EXPECT_EQ(parse_cpu_times(kStat, {}), std::nullopt);
}

TEST(LoadWatch, TellsOwnWorkFromThatOfOthers) {
  const LoadWatch watch;
  run_process({.argv = {"/bin/sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"}});
  CaseResult result;
  result.samples = watch.samples(3);
  const std::vector<MachineLoad> loads = machine_loads(result);
  if (loads.empty()) GTEST_SKIP() << "this system has no /proc/stat";
  EXPECT_EQ(loads.at(0).launch, 3);
  EXPECT_GE(loads[0].cores, 1);
  EXPECT_GT(loads[0].own, 0);
  EXPECT_LE(loads[0].own, 1.2 * loads[0].cores);
  EXPECT_GE(loads[0].others, 0);
}

}  // namespace
}  // namespace hbench::load_watch_test
