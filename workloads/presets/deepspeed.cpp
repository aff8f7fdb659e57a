#include "workloads/presets/host_costs.hpp"

namespace hbench {

extern const Preset kDeepspeedPreset;
constinit const Preset kDeepspeedPreset{
    .name = "deepspeed",
    .summary = "DeepSpeed without sharding: buckets of 500 million elements, after the backward pass for most models",
    .citation = "DeepSpeed's documentation: zero_optimization.reduce_bucket_size (5e8 elements)",
    .algorithm = "ring",
    .fusion = "threshold:1907MiB",
    .per_bucket = kCallPerBucket,
    .per_step = {.stated = 0.5e-3,
                 .better = 0,
                 .worse = 10e-3,
                 .source = "github.com/mvsjober/ml-benchmarks (commit 4fd03dd): steps of ResNet-50, 41 to 105 ms on 4 "
                           "and 8 V100 and A100, are within 1.4 ms of those of PyTorch's DDP"},
    .half = {.weights = true,
             .fp16_gradients = true,
             .bf16_gradients = true,
             .fusion = "threshold:953MiB",
             .source =
                 "DeepSpeed, runtime/engine.py (commit edaa722): gradients are cast to communication_data_type, by "
                 "default float16 with fp16 and bfloat16 with bf16; 16-bit weights and float32 copies: "
                 "Rajbhandari et al., ZeRO, SC 2020, section 3.1"},
};

}  // namespace hbench
