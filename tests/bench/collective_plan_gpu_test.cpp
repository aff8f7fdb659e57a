// The plan of `hbench collective` for ranks whose data lie on GPUs. No GPU is needed for it.

#include "bench/collective/plan.hpp"
#include "collectives/cuda/cuda.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::collective_plan_gpu_test {
namespace {

CollectiveRequest one_size(std::vector<std::string> executors) {
  CollectiveRequest request;
  request.min_bytes = request.max_bytes = 1024;
  request.ranks = {4};
  request.executors = std::move(executors);
  return request;
}

CollectivePlan plan_of(const CollectiveRequest& request, const CollectiveMachine& machine = {}) {
  return make_collective_plan(request, machine, {});
}

TEST(GpuPlan, LetsRanksOnGpusTakeTurnsWithThreadsInOneProcess) {
  const CollectivePlan plan = plan_of(one_size({"threads", "cuda"}));
  ASSERT_EQ(plan.sets.size(), 1);
  EXPECT_TRUE(plan.sets[0].threads);
  ASSERT_EQ(plan.sets[0].cases.size(), 2);
  EXPECT_EQ(plan.sets[0].cases[0].asked.source, "this machine's CPU cores");
  EXPECT_EQ(plan.sets[0].cases[1].asked.source, "this machine's GPUs");
  EXPECT_EQ(plan.sets[0].cases[1].asked.collective.executor, "cuda");
  EXPECT_TRUE(plan.comparison);
}

TEST(GpuPlan, SaysWhyThereAreNoGpus) {
  CollectiveMachine machine;
  machine.absent["cuda"] = "there is no driver; install one";
  expect_error([&] { plan_of(one_size({"cuda"}), machine); }, ExitCode::environment,
               HasSubstr("ring by cuda on 4 ranks: there is no driver; install one"), HasSubstr("hbench doctor"));
  // A mistake beside it is the user's.
  CollectiveRequest request = one_size({"cuda", "threads"});
  request.algorithms = {"vendor"};
  expect_error([&] { plan_of(request, machine); }, ExitCode::usage, HasSubstr("there is no driver"),
               HasSubstr("--help"));
  // The others go on.
  const CollectivePlan plan = plan_of(one_size({"cuda", "threads"}), machine);
  EXPECT_EQ(plan.cases, 1);
  ASSERT_EQ(plan.refused.size(), 1);
  EXPECT_EQ(plan.refused[0].why, "there is no driver; install one");
}

TEST(GpuPlan, RefusesWhatIsNotDoneOnGpus) {
  CollectiveRequest request = one_size({"cuda"});
  request.algorithms = {"vendor"};
  expect_error([&] { plan_of(request); }, ExitCode::usage,
               HasSubstr("NCCL's own collectives go with the executor nccl"), HasSubstr("--help"));
}

// Whether CUDA was built in or not.
TEST(GpuPlan, CompressesWithWhatHasKernelsAndNamesIt) {
  for (const Compressor* compressor : compressors()) {
    CollectiveRequest request = one_size({"cuda", "threads"});
    request.compressors = {std::string(compressor->name)};
    const CollectivePlan plan = plan_of(request);
    const bool can = parse_compressor(compressor->name).verbatim() || cuda_compresses(*compressor);
    EXPECT_EQ(plan.cases, can ? 2 : 1) << compressor->name;
    if (can) continue;
    ASSERT_EQ(plan.refused.size(), 1) << compressor->name;
    EXPECT_THAT(plan.refused[0].why, HasSubstr(std::string(compressor->name) + " has no kernels for a GPU; "));
    if (cuda_compresses(*parse_compressor("fp16").compressor)) {
      EXPECT_THAT(plan.refused[0].why, HasSubstr("these have: "));
      EXPECT_THAT(plan.refused[0].why, HasSubstr("fp16"));
    }
  }
}

TEST(GpuPlan, EncodesWhatNcclMovesWhereThereAreKernelsForIt) {
  CollectiveRequest request = one_size({"nccl-p2p"});
  request.compressors = {"none", "bf16", "ef2:onebit"};
  const CollectivePlan plan = plan_of(request);
  const bool kernels = cuda_compresses(*parse_compressor("bf16").compressor);
  EXPECT_EQ(plan.cases, kernels ? 3 : 1);
  EXPECT_EQ(plan.refused.size(), kernels ? 0 : 2);
}

TEST(GpuPlan, GivesNcclItsOwnCollectivesAndOursToItsPointToPoint) {
  const CollectivePlan plan = plan_of(one_size({"nccl", "nccl-p2p"}));
  ASSERT_EQ(plan.cases, 2);
  EXPECT_EQ(plan.sets[0].cases[0].asked.strategy.algorithm, "vendor");
  EXPECT_EQ(plan.sets[0].cases[1].asked.strategy.algorithm, "ring");
  CollectiveRequest request = one_size({"nccl"});
  request.algorithms = {"ring"};
  expect_error([&] { plan_of(request); }, ExitCode::usage, HasSubstr("the executor nccl-p2p runs ours"),
               HasSubstr("--help"));
}

}  // namespace
}  // namespace hbench::collective_plan_gpu_test
