#include "workloads/libtorch.hpp"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "collectives/base/error.hpp"
#include "collectives/cuda/cuda.hpp"

namespace hbench {
namespace {

/// `9.10.2` from 91002, `8.9.1` from 8901: cuDNN's numbers before and since version 9.
std::string cudnn_version(long number) {
  const long major = number >= 90000 ? 10000 : 1000;
  return fmt::format("{}.{}.{}", number / major, number % major / 100, number % 100);
}

}  // namespace

Availability torch_availability() { return {}; }

Availability training_availability() { return {}; }

Availability gpu_training_availability() {
  if (Availability gpus = cuda_availability(); !gpus.available) return gpus;
  if (at::hasCUDA()) return {};
  return {false, fmt::format("LibTorch {} was built without CUDA", TORCH_VERSION),
          "build with a LibTorch for CUDA (PyPI's torch, or pytorch.org's archive): -DCMAKE_PREFIX_PATH=<its folder>"};
}

std::map<std::string, std::string> torch_facts() {
  std::map<std::string, std::string> facts{{"version", TORCH_VERSION}};
  if (!at::hasCUDA()) return facts;
  const at::CUDAHooksInterface& hooks = at::detail::getCUDAHooks();
  if (hooks.hasCUDART()) facts["cuda"] = fmt::format("{}", hooks.versionCUDART());
  if (hooks.hasCuDNN()) facts["cudnn"] = cudnn_version(hooks.versionCuDNN());
  return facts;
}

void require_place(bool on_gpu, Precision precision) {
  if (const PrecisionEntry& entry = entry_of(precision); !entry.measured)
    throw Error(ExitCode::usage, fmt::format("hbench does not train in {} itself: it is predicted only", entry.name),
                "give --precision bf16, or --evidence simulated");
  if (on_gpu) {
    if (const Availability there = gpu_training_availability(); !there.available)
      throw there.error("cannot train on a GPU");
  } else if (const PrecisionEntry& entry = entry_of(precision); entry.gpu_only) {
    throw Error(ExitCode::usage, fmt::format("precision {} needs a GPU", entry.name),
                "on CPU cores there are float32 and bf16");
  }
}

}  // namespace hbench
