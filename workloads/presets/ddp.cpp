#include "workloads/presets/host_costs.hpp"

namespace hbench {

extern const Preset kDdpPreset;
constinit const Preset kDdpPreset{
    .name = "ddp",
    .summary = "PyTorch's DistributedDataParallel: buckets of 25 MiB, the first of 1 MiB, in ready order",
    .citation =
        "Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training, PVLDB 13(12), 2020",
    .algorithm = "ring",
    .fusion = "ddp",
    .per_bucket = kCallPerBucket,
};

}  // namespace hbench
