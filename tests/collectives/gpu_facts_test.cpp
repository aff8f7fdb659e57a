// What is read of a driver, from libraries that answer as scripted (`fake_nvml/`).

#include <cstdlib>
#include <filesystem>
#include <string>

#include "collectives/cuda/gpu_facts.hpp"

#include "tests/support/matchers.hpp"

namespace hbench::gpu_facts_test {
namespace {

/// Beside this program, wherever it was carried to.
std::string beside(const char* library) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / library;
}

const std::string kFakeNvml = beside("fake_driver/libnvidia-ml.so.1");
const std::string kFakeOldNvml = beside("libfake_old_nvml.so");

class GpuFactsTest : public ::testing::Test {
 protected:
  ~GpuFactsTest() override { unsetenv("FAKE_NVML"); }
  static DriverFacts facts_when(const char* scenario) {
    setenv("FAKE_NVML", scenario, 1);
    return driver_facts(kFakeNvml.c_str());
  }
};

TEST_F(GpuFactsTest, WithoutADriverThereIsAReasonAndNoGpu) {
  const DriverFacts facts = driver_facts("libno-such-driver.so.1");
  EXPECT_EQ(facts.failure, "there is no NVIDIA driver on this machine");
  EXPECT_FALSE(facts.installed);
  EXPECT_TRUE(facts.gpus.empty());
  EXPECT_EQ(watch_gpu("0000:1b:00.0", "libno-such-driver.so.1"), nullptr);
}

TEST_F(GpuFactsTest, ADriverThatIsNotLoadedSaysSo) {
  const DriverFacts facts = facts_when("dead");
  EXPECT_TRUE(facts.installed);
  EXPECT_EQ(facts.failure, "the NVIDIA driver does not answer: Driver Not Loaded");
  EXPECT_TRUE(facts.gpus.empty());
}

TEST_F(GpuFactsTest, ALibraryThatIsNotTheDriversIsRefused) {
  EXPECT_THAT(driver_facts("libm.so.6").failure, HasSubstr("libm.so.6 is not NVIDIA's library"));
}

TEST_F(GpuFactsTest, ADriverWithoutGpusIsNoFailure) {
  const DriverFacts facts = facts_when("none");
  EXPECT_EQ(facts.failure, "");
  EXPECT_TRUE(facts.gpus.empty());
}

TEST_F(GpuFactsTest, EverythingOfTwoGpusIsRead) {
  const DriverFacts facts = facts_when("busy");
  EXPECT_EQ(facts.failure, "");
  EXPECT_EQ(facts.version, "580.65.06");
  EXPECT_EQ(facts.cuda, 13000);
  ASSERT_EQ(facts.gpus.size(), 2U);
  const GpuFacts& gpu = facts.gpus[1];
  EXPECT_EQ(gpu.index, 1);
  EXPECT_EQ(gpu.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu.uuid, "GPU-00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(gpu.pci, "0000:43:00.0") << "as below /sys/bus/pci/devices";
  EXPECT_EQ(gpu.compute, "9.0");
  EXPECT_EQ(gpu.memory, std::int64_t{80} << 30);
  EXPECT_EQ(gpu.free_memory, std::int64_t{79} << 30);
  // NVML counts MHz and mW.
  EXPECT_EQ(gpu.now.sm_clock, 1980e6);
  EXPECT_EQ(gpu.now.memory_clock, 2619e6);
  EXPECT_EQ(gpu.most_sm_clock, 1980e6);
  EXPECT_EQ(gpu.most_memory_clock, 2619e6);
  EXPECT_DOUBLE_EQ(gpu.now.power.value_or(0), 123.456);
  EXPECT_EQ(gpu.power_limit, 700);
  EXPECT_EQ(gpu.now.temperature, 62);
  EXPECT_EQ(gpu.now.clock_reasons, 0U);
  EXPECT_EQ(gpu.pcie, (PcieLink{5, 16}));
  EXPECT_EQ(gpu.most_pcie, (PcieLink{5, 16}));
  EXPECT_EQ(gpu.memory_errors, 0);
  EXPECT_EQ(gpu.mig, false);
  EXPECT_EQ(gpu.persistent, true);
  EXPECT_TRUE(gpu.processes.empty());
}

TEST_F(GpuFactsTest, NvLinksAreCountedByWhatIsAtTheirEnd) {
  const DriverFacts facts = facts_when("busy");
  ASSERT_EQ(facts.gpus.size(), 2U);
  for (const GpuFacts& gpu : facts.gpus) {
    // Of 18: four to the other GPU, thirteen to a switch, one is down.
    ASSERT_EQ(gpu.nvlinks.size(), 2U);
    EXPECT_EQ(gpu.nvlinks[0].end, NvLinks::End::gpu);
    EXPECT_EQ(gpu.nvlinks[0].gpu, 1 - gpu.index);
    EXPECT_EQ(gpu.nvlinks[0].links, 4);
    EXPECT_EQ(gpu.nvlinks[1].end, NvLinks::End::nvswitch);
    EXPECT_EQ(gpu.nvlinks[1].links, 13);
  }
}

TEST_F(GpuFactsTest, WhatDisturbsIsRead) {
  EXPECT_EQ(facts_when("hot").gpus.at(0).now.clock_reasons, 0x48U);
  EXPECT_EQ(facts_when("hot").gpus.at(0).now.sm_clock, 990e6);
  const DriverFacts shared = facts_when("shared");
  const GpuFacts& gpu = shared.gpus.at(0);
  EXPECT_EQ(gpu.mig, true);
  EXPECT_EQ(shared.gpus.at(1).mig, false);
  EXPECT_EQ(gpu.persistent, false);
  EXPECT_EQ(gpu.memory_errors, 3);
  ASSERT_EQ(gpu.processes.size(), 1U);
  EXPECT_EQ(gpu.processes[0].pid, 4711);
  EXPECT_EQ(gpu.processes[0].memory, std::int64_t{2} << 30);
}

TEST_F(GpuFactsTest, WhatAnOldDriverLacksIsLeftOut) {
  const DriverFacts facts = driver_facts(kFakeOldNvml.c_str());
  EXPECT_EQ(facts.failure, "");
  EXPECT_EQ(facts.version, "");
  EXPECT_EQ(facts.cuda, 0);
  ASSERT_EQ(facts.gpus.size(), 1U);
  const GpuFacts& gpu = facts.gpus[0];
  EXPECT_EQ(gpu.name, "Tesla V100-SXM2-16GB");
  EXPECT_EQ(gpu.pci, "");
  EXPECT_EQ(gpu.now.clock_reasons, 0x8U) << "by the function's older name";
  EXPECT_EQ(gpu.now.sm_clock, std::nullopt);
  EXPECT_EQ(gpu.memory, std::nullopt);
  EXPECT_EQ(gpu.pcie, std::nullopt);
  EXPECT_EQ(gpu.mig, std::nullopt);
  EXPECT_TRUE(gpu.nvlinks.empty());
  ASSERT_EQ(gpu.processes.size(), 2U) << "in the older, shorter form";
  EXPECT_EQ(gpu.processes[1].pid, 18);
  EXPECT_EQ(gpu.processes[1].memory, std::nullopt);
  EXPECT_EQ(watch_gpu("0000:1b:00.0", kFakeOldNvml.c_str()), nullptr);
}

TEST_F(GpuFactsTest, AGpuIsWatchedByItsAddress) {
  setenv("FAKE_NVML", "capped", 1);
  const auto watch = watch_gpu("0000:43:00.0", kFakeNvml.c_str());
  ASSERT_NE(watch, nullptr);
  EXPECT_EQ(watch->sample().clock_reasons, 0x4U);
  EXPECT_EQ(watch->sample().sm_clock, 1650e6);
  EXPECT_EQ(watch_gpu("0000:99:00.0", kFakeNvml.c_str()), nullptr) << "no GPU is there";
}

TEST_F(GpuFactsTest, AGpuThatDoesNotAnswerTellsNothing) {
  setenv("FAKE_NVML", "silent", 1);
  const auto watch = watch_gpu("0000:1b:00.0", kFakeNvml.c_str());
  ASSERT_NE(watch, nullptr);
  const GpuState state = watch->sample();
  EXPECT_FALSE(state.sm_clock || state.memory_clock || state.power || state.temperature || state.clock_reasons);
}

TEST_F(GpuFactsTest, TheDriverOfThisMachineAnswersOrSaysWhyNot) {
  const DriverFacts facts = driver_facts();
  if (!facts.failure.empty()) GTEST_SKIP() << facts.failure;
  for (const GpuFacts& gpu : facts.gpus) {
    EXPECT_NE(gpu.name, "");
    EXPECT_TRUE(gpu.now.clock_reasons.has_value());
    EXPECT_NE(watch_gpu(gpu.pci), nullptr) << gpu.pci;
  }
}

}  // namespace
}  // namespace hbench::gpu_facts_test
