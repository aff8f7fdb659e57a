#include "bench/frameworks/framework.hpp"

namespace hbench {

constexpr FrameworkSetting kSettings[] = {
    {.name = "bucket-view", .summary = "gradient_as_bucket_view, which saves a copy"},
    {.name = "zero", .summary = "ZeroRedundancyOptimizer: each rank updates its part", .method = "zero:1"},
    {.name = "local-sgd", .summary = "PostLocalSGDOptimizer, from the start, period 4", .method = "local-sgd:4"}};

extern const Framework kPytorchDdpFramework;
constinit const Framework kPytorchDdpFramework{
    .name = "pytorch-ddp",
    .summary = "PyTorch's DistributedDataParallel on Gloo or, on GPUs, NCCL",
    .script = "pytorch_ddp_rank.py",
    .install = "apt-get install python3-torch python3-torchvision",
    .preset = "ddp",
    .settings = kSettings,
    .on_gpu = true,
};

}  // namespace hbench
