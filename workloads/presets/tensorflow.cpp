#include "workloads/presets/host_costs.hpp"

namespace hbench {

extern const Preset kTfReplicatedPreset, kTfPsPreset;

constinit const Preset kTfReplicatedPreset{
    .name = "tf-replicated",
    .summary = "TensorFlow 1 with replicated variables: an all-reduce of NCCL for each variable",
    .citation =
        "TensorFlow performance benchmarks page, 2017 (github.com/tensorflow/tensorflow, "
        "docs_src/performance/benchmarks.md: variable_update=replicated)",
    .algorithm = "ring",
    .fusion = "none",
    .per_bucket = kCallPerBucket,
};

constinit const Preset kTfPsPreset{
    .name = "tf-ps",
    .summary = "TensorFlow 1 with parameter servers over gRPC: whole variables, a server on each node",
    .citation =
        "Abadi et al., TensorFlow: A System for Large-Scale Machine Learning, OSDI 2016; "
        "tf.train.replica_device_setter with a load-balancing strategy",
    .algorithm = "ps",
    .fusion = "none",
    .placement = "greedy",
    .servers_update = true,
};

}  // namespace hbench
