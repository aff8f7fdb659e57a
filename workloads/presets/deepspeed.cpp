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
    .per_step = kStepOfFramework,
};

}  // namespace hbench
