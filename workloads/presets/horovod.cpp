#include "workloads/presets/host_costs.hpp"

namespace hbench {

extern const Preset kHorovod2018Preset, kHorovodPreset;

constinit const Preset kHorovod2018Preset{
    .name = "horovod-2018",
    .summary = "Horovod until November 2020: buckets of 64 MiB each 5 ms, agreed on by name",
    .citation =
        "Sergeev and Del Balso, Horovod: fast and easy distributed deep learning in TensorFlow, arXiv:1802.05799, 2018",
    .algorithm = "ring",
    .fusion = "horovod-2018",
    .per_bucket = kCallPerBucket,
};

constinit const Preset kHorovodPreset{
    .name = "horovod",
    .summary = "Horovod since v0.21: buckets of 128 MiB each ms, agreed on by a bit for each tensor",
    .citation = "Horovod's documentation: HOROVOD_FUSION_THRESHOLD, HOROVOD_CYCLE_TIME, response cache",
    .algorithm = "ring",
    .fusion = "horovod",
    .per_bucket = kCallPerBucket,
};

}  // namespace hbench
