// Facts about GPUs that are stored with a run.

#include "bench/doctor/environment.hpp"

#include "tests/support/matchers.hpp"

namespace hbench::gpu_environment_test {
namespace {

using Facts = std::map<std::string, std::string>;

GpuFacts h100(int index) {
  GpuFacts gpu{.index = index, .name = "NVIDIA H100", .uuid = "GPU-" + std::to_string(index)};
  gpu.now.sm_clock = 345e6;
  gpu.most_sm_clock = 1980e6;
  gpu.most_memory_clock = 2619e6;
  gpu.power_limit = 700;
  gpu.mig = false;
  gpu.persistent = true;
  return gpu;
}

DriverFacts with(std::vector<GpuFacts> gpus) {
  return {.failure = "", .installed = true, .version = "580.65.06", .cuda = 13000, .gpus = std::move(gpus)};
}

TEST(GpuEnvironment, TellsOnceWhatAllGpusHaveInCommon) {
  EXPECT_EQ(gpu_environment(with({h100(0), h100(1)}),
                            {.cuda = "13.0", .nccl = "2.28.3", .cudnn = "", .settings = {{"NCCL_ALGO", "Ring"}}}),
            (Facts{{"gpu", "2 x NVIDIA H100"},
                   {"gpu_driver", "580.65.06"},
                   {"gpu_uuid", "GPU-0; GPU-1"},
                   {"gpu_clocks", "SM 345 of 1980 MHz, memory at most 2619 MHz"},
                   {"gpu_power_limit", "700 W"},
                   {"gpu_modes", "MIG off, persistence on"},
                   {"gpu_settings", "NCCL_ALGO=Ring"},
                   {"cuda", "13.0"},
                   {"cuda_driver", "up to 13.0"},
                   {"nccl", "2.28.3"}}));
}

TEST(GpuEnvironment, NamesTheOneClockThatIsKnown) {
  GpuFacts gpu = h100(0);
  gpu.most_memory_clock.reset();
  EXPECT_EQ(gpu_environment(with({gpu}), {}).at("gpu_clocks"), "SM 345 of 1980 MHz");
}

TEST(GpuEnvironment, NamesEachGpuWhereTheyDiffer) {
  GpuFacts other = h100(1);
  other.name = "NVIDIA A100";
  other.power_limit.reset();
  const Facts facts = gpu_environment(with({h100(0), other}), {});
  EXPECT_EQ(facts.at("gpu"), "NVIDIA H100; NVIDIA A100");
  EXPECT_EQ(facts.at("gpu_power_limit"), "700 W; unknown");
}

TEST(GpuEnvironment, IsThatOfTheGpusThatTheProcessSees) {
  std::vector<GpuFacts> gpus{h100(0), h100(1), h100(2)};
  for (GpuFacts& gpu : gpus) gpu.pci = "0000:0" + std::to_string(gpu.index) + ":00.0";
  const DriverFacts seen = only(with(gpus), {"0000:02:00.0", "0000:00:00.0"});
  EXPECT_EQ(gpu_environment(seen, {}).at("gpu"), "2 x NVIDIA H100");
  EXPECT_EQ(gpu_environment(seen, {}).at("gpu_uuid"), "GPU-0; GPU-2");
  EXPECT_EQ(gpu_environment(only(with(gpus), {}), {}).at("gpu"), "none");
}

TEST(GpuEnvironment, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(gpu_environment({.failure = "there is no NVIDIA driver on this machine"}, {}),
            (Facts{{"gpu", "none: there is no NVIDIA driver on this machine"}}));
  EXPECT_EQ(gpu_environment(with({{.index = 0, .name = "Tesla V100"}}), {}).count("gpu_clocks"), 0U);
}

TEST(Environment, SaysThatRanksRunOnCpuCoresUnlessTheyMayUseGpus) {
  EXPECT_EQ(environment_facts(false).at("gpu"), "none used: ranks run on CPU cores");
  EXPECT_EQ(environment_facts(false).count("cuda"), 0U) << "nobody asked";
  EXPECT_NE(environment_facts(true).at("gpu"), "none used: ranks run on CPU cores");
}

}  // namespace
}  // namespace hbench::gpu_environment_test
