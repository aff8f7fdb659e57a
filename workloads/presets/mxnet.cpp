#include "workloads/presets/host_costs.hpp"

namespace hbench {

extern const Preset kMxnetPsPreset;
constinit const Preset kMxnetPsPreset{
    .name = "mxnet-ps",
    .summary =
        "MXNet's dist_device_sync: the GPUs of a node add up, large arrays are sliced over a server on each node",
    .citation =
        "Li et al., Scaling Distributed Machine Learning with the Parameter Server, OSDI 2014; "
        "MXNET_KVSTORE_BIGARRAY_BOUND, 1,000,000 elements (github.com/apache/mxnet, src/kvstore/kvstore_dist.h)",
    .algorithm = "ps",
    .fusion = "none",
    .placement = "sliced",
    .servers_update = true,
};

extern const Preset kMxnetHorovodPreset;
constinit const Preset kMxnetHorovodPreset{
    .name = "mxnet-horovod",
    .summary = "MXNet with Horovod: its buckets of 128 MiB each ms, and the engine of MXNet between",
    .citation =
        "Horovod's documentation, MXNet; HOROVOD_FUSION_THRESHOLD, HOROVOD_CYCLE_TIME (github.com/horovod/horovod, "
        "docs/mxnet.rst and docs/tensor-fusion.rst)",
    .algorithm = "ring",
    .fusion = "horovod",
    .per_bucket = kCallPerBucket,
    .per_step = {.stated = 10e-3,
                 .better = 0,
                 .worse = 75e-3,
                 .source = "github.com/Oneflow-Inc/DLPerf (commit c89430b): beside what is simulated steps of "
                           "ResNet-50 and BERT base took 0 to 77 ms on 8 to 32 V100; ResNet-50 in mixed precision by "
                           "gluon-cv, whose input does not keep up, is left out"},
};

}  // namespace hbench
