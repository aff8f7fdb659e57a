// `hbench doctor` as people run it, on a machine whose driver answers as scripted (`tests/collectives/fake_nvml`).

#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/libtorch.hpp"

namespace hbench::doctor_program_test {
namespace {

TEST(Doctor, ShowsTheGpusOfADriverAndWhatDisturbsThem) {
  const Workplace workplace;
  const Outcome hot = workplace.run({"doctor"}, {{"LD_LIBRARY_PATH", HBENCH_FAKE_DRIVER}, {"FAKE_NVML", "hot"}});
  EXPECT_EQ(hot.code, 3) << hot.err;
  EXPECT_THAT(hot.out, HasSubstr("2 GPUs, driver 580.65.06"));
  EXPECT_THAT(hot.out, ContainsRegex("error  GPU 0-1 +throttled now: hardware slowdown, too hot"));
  EXPECT_THAT(hot.out, ContainsRegex("GPU 1 +4 +- +13\n")) << "NVLinks";
}

TEST(Doctor, CallsNoProblemWhatOnlyAComparisonNeeds) {
  const Workplace workplace;
  const Outcome without = workplace.run({"doctor"}, {{"PATH", "/nowhere"}});
  EXPECT_THAT(without.out, ContainsRegex("note +launcher mpich "));
  EXPECT_THAT(without.out, HasSubstr("error  launcher mpirun "));
}

TEST(Doctor, CallsNoCoreSlowThatOtherProcessesShare) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const Outcome shared = workplace.shell(R"(
core=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
for i in 1 2 3 4 5; do taskset -c "$core" sh -c 'while :; do :; done' & spinning="$spinning $!"; done
taskset -c "$core" "$HBENCH" doctor
kill $spinning)");
  EXPECT_THAT(shared.out, ContainsRegex("pass +LibTorch speed +[0-9]+ GFLOP/s on one core .*other processes took"));
}

TEST(Doctor, TrainsTwiceAndComparesTheBits) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  EXPECT_THAT(workplace.run({"doctor", "--train"}).out,
              ContainsRegex("pass +training +twice the same bits of losses \\([0-9a-f]{16}\\)"));
}

TEST(Doctor, SaysInOneLineThatADriverIsNotLoaded) {
  const Workplace workplace;
  const Outcome dead = workplace.run({"doctor"}, {{"LD_LIBRARY_PATH", HBENCH_FAKE_DRIVER}, {"FAKE_NVML", "dead"}});
  EXPECT_EQ(dead.code, 3);
  EXPECT_THAT(dead.out, HasSubstr("the NVIDIA driver does not answer: Driver Not Loaded"));
  EXPECT_THAT(dead.out, Not(HasSubstr("\nGPUs\n")));
}

}  // namespace
}  // namespace hbench::doctor_program_test
