#include "workloads/presets/host_costs.hpp"

namespace hbench {

extern const Preset kOneflowPreset;
constinit const Preset kOneflowPreset{
    .name = "oneflow",
    .summary = "OneFlow: all-reduces fused to 16 MiB",
    .citation =
        "OneFlow, configs/common/train.py of LiBai: nccl_fusion_threshold_mb 16 (github.com/Oneflow-Inc/libai); of at "
        "most 24 tensors, which is not modelled",
    .algorithm = "ring",
    .fusion = "ddp:16MiB:16MiB",
    .per_bucket = kCallPerBucket,
    .per_step = kStepOfFramework,
};

}  // namespace hbench
