#include "bench/frameworks/framework.hpp"

namespace hbench {

constexpr FrameworkSetting kSettings[] = {
    {.name = "zero1", .summary = "stage 1: each rank updates its part", .method = "zero:1"},
    {.name = "zero2", .summary = "stage 2: each rank has the gradients of its part", .method = "zero:2"}};

extern const Framework kDeepspeedFramework;
constinit const Framework kDeepspeedFramework{
    .name = "deepspeed",
    .summary = "DeepSpeed, stage 0 of ZeRO, on Gloo and its own shared memory or, on GPUs, NCCL",
    .script = "deepspeed_rank.py",
    .install =
        "python3 -m pip install 'torch>=2.6' torchvision setuptools ninja && "
        "python3 -m pip install --no-build-isolation deepspeed && DS_ACCELERATOR=cpu python3 -c "
        "'from deepspeed.ops.op_builder.cpu import ShareMemCommBuilder as S; S().load()'",
    .preset = "ddp",
    .settings = kSettings,
    .on_gpu = true,
};

}  // namespace hbench
