// Published implementations of compressors: what they send is the compressor's, what they cost a GPU is here.

#include "workloads/presets/host_costs.hpp"

namespace hbench {

extern const Preset kGracePreset;
constinit const Preset kGracePreset{
    .name = "grace",
    .summary = "GRACE's compressors over Horovod, tensor by tensor: give one with --compressor",
    .citation = "Xu et al., GRACE: A Compressed Communication Framework for Distributed Machine Learning, ICDCS 2021",
    .algorithm = "ring",
    .fusion = "none",
    .per_bucket = kCallPerBucket,
    .coding_per_byte = kChainPerByte,
    .coding_per_tensor = kChainPerTensor,
};

extern const Preset kDdpPowersgdPreset;
constinit const Preset kDdpPowersgdPreset{
    .name = "ddp-powersgd",
    .summary = "PyTorch's PowerSGD hook in DistributedDataParallel's buckets: with --compressor powersgd",
    .citation =
        "PyTorch's powerSGD_hook.py; github.com/pytorch/pytorch/issues/65813: compression takes most of a step "
        "on fast networks",
    .algorithm = "ring",
    .fusion = "ddp",
    .per_bucket = kCallPerBucket,
    .coding_per_byte = kChainPerByte,
    .coding_per_tensor = kChainPerTensor,
};

extern const Preset kBaguaBytegradPreset;
constinit const Preset kBaguaBytegradPreset{
    .name = "bagua-bytegrad",
    .summary = "Bagua's ByteGrad, with kernels of its own: with --compressor minmax8",
    .citation = "Gan et al., BAGUA: Scaling up Distributed Learning with System Relaxations, PVLDB 15(4), 2021",
    .algorithm = "ring",
    .fusion = "ddp:10MiB:10MiB",
    .per_bucket = kCallPerBucket,
    .coding_per_byte = {.stated = 0.04e-9,
                        .better = 0,
                        .worse = 0.1e-9,
                        .source = "github.com/BaguaSys/tutorials, e2e_vgg16_128.png (read by eye): VGG-16 on 128 V100 "
                                  "makes 170 samples/s per GPU with ByteGrad and 226 where nothing waits, so that "
                                  "coding and communication of 553 MB take 47 ms at most"},
};

extern const Preset kDeepspeedOnebitPreset;
constinit const Preset kDeepspeedOnebitPreset{
    .name = "deepspeed-1bit",
    .summary = "DeepSpeed's 1-bit Adam, all gradients after the backward pass: with --compressor onebit",
    .citation =
        "Tang et al., 1-bit Adam: Communication Efficient Large-Scale Training with Adam's Convergence Speed, "
        "ICML 2021",
    .algorithm = "ring",
    .fusion = "threshold:1907MiB",
    .per_bucket = kCallPerBucket,
    .per_step = kStepOfFramework,
    .coding_per_byte = kChainPerByte,
};

}  // namespace hbench
