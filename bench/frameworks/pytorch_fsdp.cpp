#include "bench/frameworks/framework.hpp"

namespace hbench {

extern const Framework kPytorchFsdpFramework;
constinit const Framework kPytorchFsdpFramework{
    .name = "pytorch-fsdp",
    .summary = "PyTorch's fully_shard (FSDP2) on Gloo or, on GPUs, NCCL, each block of the model a unit",
    .script = "pytorch_fsdp_rank.py",
    .install = "python3 -m pip install 'torch>=2.6' torchvision",
    .preset = "ddp",
    .method = "fsdp",
    .on_gpu = true,
};

}  // namespace hbench
