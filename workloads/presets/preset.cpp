// Published implementations of compressors: what they send is the compressor's, what they cost a GPU is here.
// A figure that several presets share.

#include "workloads/presets/preset.hpp"

#include <array>

namespace hbench {
namespace {

/// What a bucket costs a rank's processor where a library's all-reduce is called for it.
constexpr PresetFigure kCallPerBucket{
    .stated = 57e-6,
    .better = 40e-6,
    .worse = 200e-6,
    .source =
        "40 to 75 us for each bucket of PyTorch's DDP on GPU servers (middle taken; observed, not published); 200 us "
        "is what unfused all-reduces of github.com/HKBU-HPML/ddl-benchmarks are met best with"};

/// What a framework takes more for a step than what is simulated, where no published step in the table says otherwise.
constexpr PresetFigure kStepOfFramework{
    .stated = 5e-3,
    .better = 0,
    .worse = 50e-3,
    .source =
        "published steps of frameworks without rows here are 5 to 200 ms longer than simulated ones (the lower end "
        "taken; observed, not published)"};

/// What compressors that are chains of a framework's operators cost: half of it by bytes, half by tensors. Together
/// 0.1 to 0.6 s for the 102 MB and 161 tensors of ResNet-50's gradients.
constexpr PresetFigure kChainPerByte{
    .stated = 1.2e-9,
    .better = 0.5e-9,
    .worse = 3e-9,
    .source =
        "published compressors add 0.1 to 0.6 s to a ResNet-50 step at any bandwidth (geometric middle taken, half "
        "of it by bytes; observed, not published)"};
constexpr PresetFigure kChainPerTensor{
    .stated = 0.8e-3, .better = 0.3e-3, .worse = 1.9e-3, .source = kChainPerByte.source};

constexpr Preset kBaguaPreset{
    .name = "bagua",
    .summary = "Bagua's GradientAllReduce: buckets of 10 MiB, one ring over all GPUs",
    .citation =
        "Gan et al., BAGUA: Scaling up Distributed Learning with System Relaxations, PVLDB 15(4), 2021; "
        "BAGUA_DEFAULT_BUCKET_SIZE in bagua/torch_api/env.py (github.com/BaguaSys/bagua)",
    .algorithm = "ring",
    .fusion = "ddp:10MiB:10MiB",
    .per_bucket = kCallPerBucket,
};

constexpr Preset kBytepsPreset{
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

constexpr Preset kGracePreset{
    .name = "grace",
    .summary = "GRACE's compressors over Horovod, tensor by tensor: give one with --compressor",
    .citation = "Xu et al., GRACE: A Compressed Communication Framework for Distributed Machine Learning, ICDCS 2021",
    .algorithm = "ring",
    .fusion = "none",
    .per_bucket = kCallPerBucket,
    .coding_per_byte = kChainPerByte,
    .coding_per_tensor = kChainPerTensor,
};

constexpr Preset kDdpPowersgdPreset{
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

constexpr Preset kBaguaBytegradPreset{
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

constexpr Preset kDeepspeedOnebitPreset{
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

constexpr Preset kDdpPreset{
    .name = "ddp",
    .summary = "PyTorch's DistributedDataParallel: buckets of 25 MiB, the first of 1 MiB, in ready order",
    .citation =
        "Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training, PVLDB 13(12), 2020",
    .algorithm = "ring",
    .fusion = "ddp",
    .per_bucket = kCallPerBucket,
};

constexpr Preset kDeepspeedPreset{
    .name = "deepspeed",
    .summary = "DeepSpeed without sharding: buckets of 500 million elements, after the backward pass for most models",
    .citation = "DeepSpeed's documentation: zero_optimization.reduce_bucket_size (5e8 elements)",
    .algorithm = "ring",
    .fusion = "threshold:1907MiB",
    .per_bucket = kCallPerBucket,
    .per_step = {.stated = 0.5e-3,
                 .better = 0,
                 .worse = 10e-3,
                 .source = "github.com/mvsjober/ml-benchmarks (commit 4fd03dd): steps of ResNet-50, 41 to 105 ms on 4 "
                           "and 8 V100 and A100, are within 1.4 ms of those of PyTorch's DDP"},
    .half = {.weights = true,
             .fp16_gradients = true,
             .bf16_gradients = true,
             .fusion = "threshold:953MiB",
             .source =
                 "DeepSpeed, runtime/engine.py (commit edaa722): gradients are cast to communication_data_type, by "
                 "default float16 with fp16 and bfloat16 with bf16; 16-bit weights and float32 copies: "
                 "Rajbhandari et al., ZeRO, SC 2020, section 3.1"},
};

constexpr Preset kHorovod2018Preset{
    .name = "horovod-2018",
    .summary = "Horovod until November 2020: buckets of 64 MiB each 5 ms, agreed on by name",
    .citation =
        "Sergeev and Del Balso, Horovod: fast and easy distributed deep learning in TensorFlow, arXiv:1802.05799, 2018",
    .algorithm = "ring",
    .fusion = "horovod-2018",
    .per_bucket = kCallPerBucket,
};

constexpr Preset kHorovodPreset{
    .name = "horovod",
    .summary = "Horovod since v0.21: buckets of 128 MiB each ms, agreed on by a bit for each tensor",
    .citation = "Horovod's documentation: HOROVOD_FUSION_THRESHOLD, HOROVOD_CYCLE_TIME, response cache",
    .algorithm = "ring",
    .fusion = "horovod",
    .per_bucket = kCallPerBucket,
};

constexpr Preset kMegatronDdpPreset{
    .name = "megatron-ddp",
    .summary = "Megatron-LM's DistributedDataParallel: buckets of 40 million parameters",
    .citation =
        "NVIDIA Megatron-LM (megatron), core/distributed/distributed_data_parallel_config.py: bucket_size is "
        "max(40,000,000, 1,000,000 x data-parallel ranks) parameters (the figure up to 40 ranks is taken)",
    .algorithm = "ring",
    .fusion = "ddp:152MiB:152MiB",
    .per_bucket = kCallPerBucket,
    .per_step = kStepOfFramework,
    .half = {.weights = true,
             .fp16_gradients = true,
             .bf16_gradients = false,
             .fusion = "ddp:76MiB:76MiB",
             .source =
                 "NVIDIA Megatron-LM (commit d98e8a6): training/arguments.py reduces gradients in float32 with --bf16 "
                 "unless --grad-reduce-in-bf16 is given; core/distributed/param_and_grad_buffer.py else in the type "
                 "of the parameters, which is float16 with --fp16"},
};

constexpr Preset kMxnetPsPreset{
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

constexpr Preset kMxnetHorovodPreset{
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

constexpr Preset kOneflowPreset{
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

constexpr Preset kPaddlePreset{
    .name = "paddle",
    .summary = "PaddlePaddle's fleet: all-reduces fused to 32 MiB",
    .citation =
        "PaddlePaddle, paddle/fluid/framework/distributed_strategy.proto: fuse_all_reduce_ops, fuse_grad_size_in_MB 32 "
        "(github.com/PaddlePaddle/Paddle)",
    .algorithm = "ring",
    .fusion = "ddp:32MiB:32MiB",
    .per_bucket = kCallPerBucket,
    .per_step = {.stated = 30e-3,
                 .better = 5e-3,
                 .worse = 300e-3,
                 .source = "github.com/Oneflow-Inc/DLPerf (commit c89430b): beside what is simulated steps of "
                           "ResNet-50 took 19 to 56 ms, and of BERT base 165 to 373 ms on 8 to 32 V100"},
};

constexpr Preset kTfReplicatedPreset{
    .name = "tf-replicated",
    .summary = "TensorFlow 1 with replicated variables: an all-reduce of NCCL for each variable",
    .citation =
        "TensorFlow performance benchmarks page, 2017 (github.com/tensorflow/tensorflow, "
        "docs_src/performance/benchmarks.md: variable_update=replicated)",
    .algorithm = "ring",
    .fusion = "none",
    .per_bucket = kCallPerBucket,
};

constexpr Preset kTfPsPreset{
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

constexpr Preset kTf2CollectivePreset{
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

}  // namespace

std::span<const Preset* const> presets() {
  static constexpr std::array<const Preset*, 18> kTable{
      &kHorovod2018Preset,   &kHorovodPreset,        &kDdpPreset,          &kBaguaPreset,
      &kTfReplicatedPreset,  &kTfPsPreset,           &kMxnetPsPreset,      &kBytepsPreset,
      &kDeepspeedPreset,     &kMegatronDdpPreset,    &kMxnetHorovodPreset, &kTf2CollectivePreset,
      &kPaddlePreset,        &kOneflowPreset,        &kGracePreset,        &kDdpPowersgdPreset,
      &kBaguaBytegradPreset, &kDeepspeedOnebitPreset};
  return kTable;
}

double PresetFigure::at(End end) const { return end == End::better ? better : end == End::worse ? worse : stated; }

}  // namespace hbench
