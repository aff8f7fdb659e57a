#include "workloads/presets/host_costs.hpp"

namespace hbench {

extern const Preset kMegatronDdpPreset;
constinit const Preset kMegatronDdpPreset{
    .name = "megatron-ddp",
    .summary = "Megatron-LM's DistributedDataParallel: buckets of 40 million parameters",
    .citation =
        "NVIDIA Megatron-LM (megatron), core/distributed/distributed_data_parallel_config.py: bucket_size is "
        "max(40,000,000, 1,000,000 x data-parallel ranks) parameters (the figure up to 40 ranks is taken)",
    .algorithm = "ring",
    .fusion = "ddp:152MiB:152MiB",
    .per_bucket = kCallPerBucket,
    .per_step = kStepOfFramework,
    .half = {.weights = true,
             .fp16_gradients = true,
             .bf16_gradients = false,
             .fusion = "ddp:76MiB:76MiB",
             .source =
                 "NVIDIA Megatron-LM (commit d98e8a6): training/arguments.py reduces gradients in float32 with --bf16 "
                 "unless --grad-reduce-in-bf16 is given; core/distributed/param_and_grad_buffer.py else in the type "
                 "of the parameters, which is float16 with --fp16"},
};

}  // namespace hbench
