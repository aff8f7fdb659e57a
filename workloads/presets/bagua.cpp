#include "workloads/presets/host_costs.hpp"

namespace hbench {

extern const Preset kBaguaPreset;
constinit const Preset kBaguaPreset{
    .name = "bagua",
    .summary = "Bagua's GradientAllReduce: buckets of 10 MiB, one ring over all GPUs",
    .citation =
        "Gan et al., BAGUA: Scaling up Distributed Learning with System Relaxations, PVLDB 15(4), 2021; "
        "BAGUA_DEFAULT_BUCKET_SIZE in bagua/torch_api/env.py (github.com/BaguaSys/bagua)",
    .algorithm = "ring",
    .fusion = "ddp:10MiB:10MiB",
    .per_bucket = kCallPerBucket,
};

}  // namespace hbench
