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
};

}  // namespace hbench
