#include "workloads/presets/preset.hpp"

namespace hbench {

extern const Preset kBytepsPreset;
constinit const Preset kBytepsPreset{
    .name = "byteps",
    .summary = "BytePS: pieces of 4,096,000 bytes, the front of the model first, to a server on each node",
    .citation =
        "Jiang et al., A Unified Architecture for Accelerating Distributed DNN Training in Heterogeneous GPU/CPU "
        "Clusters, OSDI 2020; BYTEPS_PARTITION_BYTES (github.com/bytedance/byteps, docs/env.md)",
    .algorithm = "ps",
    // Its credit bounds what is being added up inside a node, and nothing of what is on its way to servers.
    .fusion = "byteps:4000KiB:1GiB",
    .placement = "sliced",
};

}  // namespace hbench
