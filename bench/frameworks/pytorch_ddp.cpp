#include "bench/frameworks/framework.hpp"

namespace hbench {

constexpr FrameworkSetting kSettings[] = {
    {.name = "bucket-view", .summary = "gradient_as_bucket_view, which saves a copy"}};

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
