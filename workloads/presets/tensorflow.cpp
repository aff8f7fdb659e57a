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
    .server_rate = {.stated = 1.308e9,
                    .better = 1.85e9,
                    .worse = 0.925e9,
                    .source = "tensorflow/tensorflow#6256 (2017-01): what one gRPC tensor server moves on one system; "
                              "the root of 2 more or less is assumed"},
};

extern const Preset kTf2CollectivePreset;
constinit const Preset kTf2CollectivePreset{
    .name = "tf2-collective",
    .summary = "TensorFlow 2's MultiWorkerMirroredStrategy: all gradients after the backward pass",
    .citation =
        "TensorFlow's documentation, tf.distribute.experimental.CommunicationOptions: bytes_per_pack 0, gradients are "
        "reduced together and packs overlap with the update of weights",
    .algorithm = "ring",
    .fusion = "threshold:1907MiB",
    .per_bucket = kCallPerBucket,
    .per_step = {.stated = 15e-3,
                 .better = 0,
                 .worse = 150e-3,
                 .source = "github.com/Oneflow-Inc/DLPerf (commit c89430b): beside what is simulated steps of "
                           "ResNet-50 took up to 8 ms in single precision and 52 to 158 ms in mixed on 8 to 32 V100"},
};

}  // namespace hbench
