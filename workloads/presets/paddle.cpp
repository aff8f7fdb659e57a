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
    .per_step = {.stated = 30e-3,
                 .better = 5e-3,
                 .worse = 300e-3,
                 .source = "github.com/Oneflow-Inc/DLPerf (commit c89430b): beside what is simulated steps of "
                           "ResNet-50 took 19 to 56 ms, and of BERT base 165 to 373 ms on 8 to 32 V100"},
};

}  // namespace hbench
