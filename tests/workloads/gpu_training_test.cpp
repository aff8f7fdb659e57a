// Training on a GPU: skipped, with the reason, where there is none.

#include <fmt/format.h>

#include "collectives/executors/executor.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/workloads/training_cases.hpp"
#include "workloads/libtorch.hpp"
#include "workloads/training.hpp"

namespace hbench::gpu_training_test {
namespace {

class GpuTraining : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const Availability gpu = gpu_training_availability(); !gpu.available)
      GTEST_SKIP() << gpu.reason << "; " << gpu.cure;
  }
};

TrainingRequest gpu_request(const char* model, int workers, const char* algorithm) {
  TrainingRequest request = small_request(model, {.workers = workers}, algorithm);
  request.strategy.on_gpu = true;
  return request;
}

/// The parameters of every rank, which are threads on one GPU or several.
std::vector<std::vector<float>> train_on_gpus(const TrainingRequest& request, std::string_view executor) {
  auto outcomes = on_all_ranks(find_entry(executors(), executor, "executor").make_endpoints(request.world.ranks()),
                               [&](Endpoint& endpoint) { return trained_parameters(request, endpoint); });
  std::vector<std::vector<float>> ends;
  for (auto& outcome : outcomes) {
    EXPECT_EQ(outcome.failure, "") << "rank " << ends.size();
    ends.push_back(std::move(outcome.value));
  }
  return ends;
}

TEST_P(GpuTraining, OfManyWorkersEndsWhereOneWorkerWithAllSamplesDoes) {
  for (const int workers : {1, 2, 4}) {
    for (const char* algorithm : {"ring", "direct"}) {
      for (const bool overlap : {true, false}) {
        TrainingRequest request = gpu_request("lenet5", workers, algorithm);
        request.strategy.fusion = parse_fusion(GetParam());
        request.strategy.overlap = overlap;
        const std::vector<float> expected = reference_parameters(request);
        // cuDNN chooses an algorithm for each batch size, and each rounds otherwise: some 1e-4 of what a step changes.
        // A gradient that were left out or added twice would change a fifth of it.
        const double moved = largest_difference(expected, make_replica(request, 0).parameters());
        ASSERT_GT(moved, 1e-3);
        for (const std::vector<float>& end : train_on_gpus(request, "cuda"))
          EXPECT_LE(largest_difference(end, expected), 2e-3 * moved) << workers << " workers, " << algorithm;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fusion, GpuTraining, ::testing::Values("none", "horovod", "ddp"));

TEST_F(GpuTraining, EndsNearWhereTheCpuDoes) {
  TrainingRequest request = gpu_request("resnet18", 1, nullptr);
  request.learning_rate = 1e-3;
  const std::vector<float> on_gpu = reference_parameters(request);
  request.strategy.on_gpu = false;
  EXPECT_LE(largest_difference(on_gpu, reference_parameters(request)), 1e-4);
}

TEST_F(GpuTraining, WithEveryOptimizerEndsNearWhereTheCpuDoes) {
  for (const char* optimizer : {"momentum", "nesterov", "adam:0.9:0.999:0.001", "adamw:0.9:0.999:0.001"}) {
    TrainingRequest request = gpu_request("lenet5", 1, nullptr);
    request.strategy.optimizer = parse_optimizer(optimizer);
    const std::vector<float> on_gpu = reference_parameters(request);
    request.strategy.on_gpu = false;
    EXPECT_LE(largest_difference(on_gpu, reference_parameters(request)), 1e-4) << optimizer;
  }
}

TEST_F(GpuTraining, ByEveryMethodEndsNearWhereTheCpuDoes) {
  for (const char* method : {"zero:1", "zero:2", "local-sgd:2", "diloco:2", "diloco:2:2", "diloco:2:1:1:0.5"}) {
    TrainingRequest request = gpu_request("lenet5", 2, "ring");
    request.strategy.method = parse_method(method);
    request.strategy.optimizer = parse_optimizer("momentum");
    const auto on_gpus = train_on_gpus(request, "cuda");
    EXPECT_EQ(on_gpus[0], on_gpus[1]) << method;
    request.strategy.on_gpu = false;
    const auto on_cpus = on_all_ranks(make_thread_endpoints(2),
                                      [&](Endpoint& endpoint) { return trained_parameters(request, endpoint); });
    EXPECT_LE(largest_difference(on_gpus[0], on_cpus[0].value), 1e-4) << method;
  }
}

// Signs of what is near 0 are other ones on a GPU: what one bit makes of them is less than what steps change.
TEST_F(GpuTraining, ByMomentaEndsNearWhereTheCpuDoes) {
  for (const auto& [method, most] : {std::pair("1-bit-adam:3", 1.0), std::pair("qadam:3", 0.1)}) {
    SCOPED_TRACE(method);
    TrainingRequest request = gpu_request("lenet5", 3, "ring");
    request.strategy.method = parse_method(method);
    request.strategy.optimizer = parse_optimizer("adam:0.9:0.999:0.1");
    request.strategy.compressor = parse_compressor(request.strategy.method.method->compressor);
    request.strategy.fusion = parse_fusion("ddp");
    const auto on_gpus = train_on_gpus(request, "cuda");
    EXPECT_EQ(on_gpus[0], on_gpus[1]);
    EXPECT_EQ(on_gpus[0], on_gpus[2]);
    const double moved = largest_difference(on_gpus[0], make_replica(request, 0).parameters());
    EXPECT_GT(moved, 1e-3) << "trained";
    request.strategy.on_gpu = false;
    const auto on_cpus = on_all_ranks(make_thread_endpoints(3),
                                      [&](Endpoint& endpoint) { return trained_parameters(request, endpoint); });
    EXPECT_LE(largest_difference(on_gpus[0], on_cpus[0].value), most * moved);
  }
}

// Each rank waits for its neighbours alone, or for nobody: what all end with is common to them.
TEST_F(GpuTraining, ByEveryMethodWithoutStepsInCommonEndsInCommon) {
  for (const std::string_view method : {"decentralized", "gossip", "async-ps", "ssp:0"})
    for (const bool colocated : {true, false}) {
      const bool servers = method == "async-ps" || method == "ssp:0";
      if (!servers && !colocated) continue;
      SCOPED_TRACE(fmt::format("{} {}", method, colocated));
      TrainingRequest request = gpu_request("lenet5", 3, servers ? "ps" : "ring");
      request.strategy.method = parse_method(method);
      request.strategy.optimizer = parse_optimizer("adam:0.9:0.999:0.001");
      if (servers) request.world = {.workers = 3, .servers = 2, .colocated = colocated};
      const auto on_gpus = train_on_gpus(request, "cuda");
      EXPECT_EQ(on_gpus[0], on_gpus[1]);
      EXPECT_EQ(on_gpus[0], on_gpus[2]);
      EXPECT_THAT(on_gpus[0], Each(::testing::Truly([](float x) { return std::isfinite(x); })));
      EXPECT_GT(largest_difference(on_gpus[0], make_replica(request, 0).parameters()), 1e-3) << "trained";
      if (method != "decentralized") continue;  // the others follow the clock
      request.strategy.on_gpu = false;
      const auto on_cpus = on_all_ranks(make_thread_endpoints(3),
                                        [&](Endpoint& endpoint) { return trained_parameters(request, endpoint); });
      EXPECT_LE(largest_difference(on_gpus[0], on_cpus[0].value), 1e-4);
    }
}

TEST_F(GpuTraining, InEveryPrecisionKeepsWorkersTogether) {
  for (const PrecisionEntry* entry : precisions()) {
    if (!entry->measured) continue;
    TrainingRequest request = gpu_request("resnet18", 2, "ring");
    request.strategy.precision = entry->precision;
    request.learning_rate = 1e-3;
    const auto ends = train_on_gpus(request, "cuda");
    EXPECT_EQ(ends[0], ends[1]) << entry->name;
    EXPECT_THAT(ends[0], Each(::testing::Truly([](float x) { return std::isfinite(x); }))) << entry->name;
  }
}

TEST_F(GpuTraining, RecordsWhenGradientsAreReadyOnTheGpu) {
  const StepTimeline timeline = record_timeline({.model = "resnet18", .batch = 8, .image_size = 64, .on_gpu = true});
  ASSERT_EQ(timeline.gradients.size(), 62U);
  EXPECT_GT(timeline.gradients.front().ready, Seconds(0));
  EXPECT_LT(timeline.gradients.front().ready, timeline.gradients.back().ready);
  EXPECT_LE(timeline.gradients.back().ready, timeline.backward);
}

/// All of the GPU's memory but what is left of the last try.
std::vector<DeviceMemory> fill_memory(Device& device) {
  std::vector<DeviceMemory> taken;
  for (std::size_t bytes = std::size_t{8} << 30; bytes >= std::size_t{64} << 20; bytes /= 2) {
    try {
      while (true) taken.push_back(device.allocate(bytes));
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("out of memory"));
    }
  }
  return taken;
}

TEST_F(GpuTraining, SaysThatMemoryIsNotEnoughAndWhatToDo) {
  TrainingRequest request = gpu_request("resnet18", 1, nullptr);
  request.batch = 256;
  request.image_size = 224;
  const auto device = make_cuda_device(0);
  const std::vector<DeviceMemory> taken = fill_memory(*device);
  expect_error([&] { reference_parameters(request); }, ExitCode::environment, HasSubstr("out of memory"),
               HasSubstr("--batch"));
}

}  // namespace
}  // namespace hbench::gpu_training_test
