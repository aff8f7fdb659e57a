#include "workloads/presets/host_costs.hpp"

namespace hbench {

extern const Preset kPaddlePreset;
constinit const Preset kPaddlePreset{
    .name = "paddle",
    .summary = "PaddlePaddle's fleet: all-reduces fused to 32 MiB",
    .citation =
        "PaddlePaddle, paddle/fluid/framework/distributed_strategy.proto: fuse_all_reduce_ops, fuse_grad_size_in_MB 32 "
        "(github.com/PaddlePaddle/Paddle)",
    .algorithm = "ring",
    .fusion = "ddp:32MiB:32MiB",
    .per_bucket = kCallPerBucket,
    .per_step = kStepOfFramework,
};

}  // namespace hbench
