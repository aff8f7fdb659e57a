#include "bench/frameworks/frameworks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/records/fingerprint.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

// Since Debian 12 pip refuses to install outside of a virtual environment (PEP 668).
constexpr std::string_view kInstallTensorflow =
    "P=$HOME/hbench-tensorflow && python3 -m venv $P && $P/bin/pip install tensorflow-cpu && "
    "export HBENCH_PYTHON=$P/bin/python3:${HBENCH_PYTHON:-python3}";

/// Why the ranks' scripts have no such network; empty where they have.
std::string_view refuse_in_tensorflow(const ModelEntry& model) {
  if (model.architecture != Architecture::inception) return "";
  return "TensorFlow's Inception V3 has other layers than torchvision's, and 3 million parameters less";
}

constexpr FrameworkSetting kDeepspeedSettings[] = {
    {.name = "zero1", .summary = "stage 1: each rank updates its part", .method = "zero:1"},
    {.name = "zero2", .summary = "stage 2: each rank has the gradients of its part", .method = "zero:2"}};

constexpr Framework kDeepspeedFramework{
    .name = "deepspeed",
    .summary = "DeepSpeed, stage 0 of ZeRO, on Gloo and its own shared memory or, on GPUs, NCCL",
    .script = "deepspeed_rank.py",
    .install =
        "P=$HOME/hbench-deepspeed && python3 -m venv $P && "
        "$P/bin/pip install 'torch>=2.6' torchvision setuptools ninja && "
        "$P/bin/pip install --no-build-isolation deepspeed && PATH=$P/bin:$PATH DS_ACCELERATOR=cpu $P/bin/python3 -c "
        "'from deepspeed.ops.op_builder.cpu import ShareMemCommBuilder as S; S().load()' && "
        "export HBENCH_PYTHON=$P/bin/python3:${HBENCH_PYTHON:-python3}",
    .preset = "ddp",
    .settings = kDeepspeedSettings,
    .on_gpu = true,
};

constexpr FrameworkSetting kHorovodSettings[] = {
    {.name = "yield",
     .summary = "Open MPI gives the core away while it waits",
     .variable = "OMPI_MCA_mpi_yield_when_idle",
     .value = "1"},
    {.name = "gloo", .summary = "over Gloo in the place of the MPI library, as horovodrun --gloo"}};

constexpr Framework kHorovodFramework{
    .name = "horovod",
    .summary = "Horovod on PyTorch, over the MPI library that starts its ranks",
    .script = "horovod_rank.py",
    .install =
        "apt-get install python3-torch python3-torchvision python3-dev python3-venv pybind11-dev cmake make g++ "
        "libopenmpi-dev && P=$HOME/hbench-horovod && /usr/bin/python3 -m venv --system-site-packages $P && "
        "$P/bin/pip install wheel 'setuptools<66' && HOROVOD_WITH_PYTORCH=1 HOROVOD_WITH_MPI=1 HOROVOD_WITH_GLOO=1 "
        "$P/bin/pip install --no-cache-dir --no-build-isolation horovod && "
        "export HBENCH_PYTHON=$P/bin/python3:${HBENCH_PYTHON:-python3}",
    .preset = "horovod",
    .settings = kHorovodSettings,
};

constexpr FrameworkSetting kDdpSettings[] = {
    {.name = "bucket-view", .summary = "gradient_as_bucket_view, which saves a copy"},
    {.name = "zero", .summary = "ZeroRedundancyOptimizer: each rank updates its part", .method = "zero:1"},
    {.name = "local-sgd", .summary = "PostLocalSGDOptimizer, from the start, period 4", .method = "local-sgd:4"}};

constexpr Framework kPytorchDdpFramework{
    .name = "pytorch-ddp",
    .summary = "PyTorch's DistributedDataParallel on Gloo or, on GPUs, NCCL",
    .script = "pytorch_ddp_rank.py",
    .install = "apt-get install python3-torch python3-torchvision",
    .preset = "ddp",
    .settings = kDdpSettings,
    .on_gpu = true,
};

constexpr Framework kPytorchFsdpFramework{
    .name = "pytorch-fsdp",
    .summary = "PyTorch's fully_shard (FSDP2) on Gloo or, on GPUs, NCCL, each block of the model a unit",
    .script = "pytorch_fsdp_rank.py",
    .install =
        "P=$HOME/hbench-fsdp && python3 -m venv $P && $P/bin/pip install 'torch>=2.6' torchvision && "
        "export HBENCH_PYTHON=$P/bin/python3:${HBENCH_PYTHON:-python3}",
    .preset = "ddp",
    .method = "fsdp",
    .on_gpu = true,
};

constexpr Framework kTensorflowPsFramework{
    .name = "tensorflow-ps",
    .summary = "TensorFlow's ParameterServerStrategy, asynchronous: a server that has a process of its own",
    .script = "tensorflow_ps_rank.py",
    .install = kInstallTensorflow,
    .preset = "tf-ps",
    .method = "async-ps",
    .servers = 1,
    .refuses = refuse_in_tensorflow,
};

constexpr Framework kTensorflowRingFramework{
    .name = "tensorflow-ring",
    .summary = "TensorFlow's MultiWorkerMirroredStrategy, whose ring sends over gRPC",
    .script = "tensorflow_ring_rank.py",
    .install = kInstallTensorflow,
    .preset = "tf2-collective",
    .refuses = refuse_in_tensorflow,
};

constexpr std::array<const Framework*, 6> kFrameworks{&kPytorchDdpFramework,     &kPytorchFsdpFramework,
                                                      &kDeepspeedFramework,      &kHorovodFramework,
                                                      &kTensorflowRingFramework, &kTensorflowPsFramework};

}  // namespace

std::span<const Framework* const> frameworks() { return kFrameworks; }

std::string FrameworkChoice::text() const {
  return setting == nullptr ? std::string(framework->name) : fmt::format("{}:{}", framework->name, setting->name);
}

std::string_view FrameworkChoice::method() const {
  return setting == nullptr || setting->method.empty() ? framework->method : setting->method;
}

FrameworkChoice parse_framework(std::string_view text) {
  const std::size_t colon = text.find(':');
  FrameworkChoice choice{&find_entry(frameworks(), text.substr(0, colon), "framework")};
  if (colon == text.npos) return choice;
  const std::span<const FrameworkSetting> known = choice.framework->settings;
  const std::string_view name = text.substr(colon + 1);
  if (known.empty())
    throw Error(ExitCode::usage, fmt::format("{} has no settings, and '{}' names one", choice.framework->name, text),
                fmt::format("--framework {}", choice.framework->name));
  choice.setting = &find_entry(known, name, "setting");
  return choice;
}

PlannedCase planned_by(const FrameworkChoice& choice, const std::string& version, const Case& asked) {
  TrainingStrategy strategy = strategy_of(find_entry(presets(), choice.framework->preset, "preset"), 1);
  strategy.method = parse_method(choice.method());
  if (strategy.method.goes_by_units()) strategy.fusion = parse_fusion("none");
  strategy.on_gpu = asked.training.on_gpu();
  if (!asked.training.precision.empty()) strategy.precision = parse_precision(asked.training.precision);
  PlannedCase trained = planned(asked, strategy);
  trained.asked.strategy.framework = choice.text();
  trained.asked.strategy.framework_version = version;
  trained.asked.implementation = kFrameworkRevision;
  trained.asked.source = fmt::format("this machine's {}, {} {}, synthetic images",
                                     strategy.on_gpu ? "GPUs" : "CPU cores", choice.text(), version);
  return trained;
}

std::string refuse_framework(const Framework& framework, const Case& asked) {
  const auto model = std::ranges::find(models(), asked.workload, &ModelEntry::name);
  const bool of_torchvision = model != models().end() && (*model)->channels == 3;
  if (!of_torchvision) return fmt::format("frameworks train torchvision's models, and {} is none", asked.workload);
  if (framework.refuses != nullptr)
    if (const std::string_view why = framework.refuses(**model); !why.empty()) return std::string(why);
  const TrainingTask& task = asked.training;
  if (task.on_gpu() && !framework.on_gpu)
    return fmt::format("{} trains on CPU cores so far; give --device cpu", framework.name);
  if (!task.precision.empty() && !(task.on_gpu() && (task.precision == "tf32" || task.precision == "bf16")))
    return task.on_gpu() ? "frameworks train in float32, tf32 or bf16 so far"
                         : "frameworks train in float32 on CPU cores";
  if (!asked.training.optimizer.empty()) return "frameworks train with plain SGD so far";
  if (asked.accumulate > 1) return "frameworks train without micro-batches so far";
  return "";
}

}  // namespace hbench
