// `hbench doctor` as people run it, on a machine whose driver answers as scripted (`tests/collectives/fake_nvml`).

#include <gmock/gmock.h>

#include "tests/bench/program.hpp"

namespace hbench {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Doctor, ShowsTheGpusOfADriverAndWhatDisturbsThem) {
  const Workplace workplace;
  const Outcome hot = workplace.run({"doctor"}, {{"LD_LIBRARY_PATH", HBENCH_FAKE_DRIVER}, {"FAKE_NVML", "hot"}});
  EXPECT_EQ(hot.code, 3) << hot.err;
  EXPECT_THAT(hot.out, HasSubstr("2 GPUs, driver 580.65.06"));
  EXPECT_THAT(hot.out, ContainsRegex("!!  GPU 0-1 +throttled now: hardware slowdown, too hot"));
  EXPECT_THAT(hot.out, ContainsRegex("GPU 1 +4 +- +13\n")) << "NVLinks";
}

TEST(Doctor, CallsNoProblemWhatOnlyAComparisonNeeds) {
  const Workplace workplace;
  const Outcome without = workplace.run({"doctor"}, {{"PATH", "/nowhere"}});
  EXPECT_THAT(without.out, HasSubstr("--  launcher mpich "));
  EXPECT_THAT(without.out, HasSubstr("!!  launcher mpirun "));
}

TEST(Doctor, SaysInOneLineThatADriverIsNotLoaded) {
  const Workplace workplace;
  const Outcome dead = workplace.run({"doctor"}, {{"LD_LIBRARY_PATH", HBENCH_FAKE_DRIVER}, {"FAKE_NVML", "dead"}});
  EXPECT_EQ(dead.code, 3);
  EXPECT_THAT(dead.out, HasSubstr("the NVIDIA driver does not answer: Driver Not Loaded"));
  EXPECT_THAT(dead.out, Not(HasSubstr("\nGPUs\n")));
}

}  // namespace
}  // namespace hbench
