// Why GPUs, or compressors on them, cannot be used: what needs no CUDA to be said, and to be tested.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "collectives/cuda/cuda.hpp"
#include "collectives/cuda/facts.hpp"

namespace hbench::cuda {
namespace {

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

}  // namespace

Availability availability_of(const Facts& facts) {
  if (facts.driver == 0)
    return {
        false, "there is no NVIDIA driver on this machine",
        fmt::format("on a machine with an NVIDIA GPU, install a driver for CUDA {} or newer", version(facts.toolkit))};
  // A driver serves every minor version of its major one (CUDA Compatibility, Minor Version Compatibility).
  if (facts.driver / 1000 < facts.toolkit / 1000)
    return {false,
            fmt::format("the NVIDIA driver serves CUDA up to {}, and hbench was built with CUDA {}",
                        version(facts.driver), version(facts.toolkit)),
            fmt::format("install a driver for CUDA {}.0 or newer, or build with a CUDA toolkit of version {} or older",
                        facts.toolkit / 1000, version(facts.driver))};
  if (!facts.failure.empty())
    return {false, fmt::format("CUDA does not start: {}", facts.failure),
            "`nvidia-smi` shows the state of the GPU and of its driver"};
  if (facts.devices == 0)
    return {false, "there is a driver, but no GPU that this process may use",
            "`nvidia-smi -L` lists the GPUs; CUDA_VISIBLE_DEVICES, or the container, may hide them"};
  return {};
}

}  // namespace hbench::cuda

namespace hbench {
namespace {

bool compresses(const Compressor& compressor) { return compressor.memory_traffic > 0 && cuda_compresses(compressor); }

std::string those_that_have() {
  std::vector<std::string_view> names;
  for (const Compressor* compressor : compressors())
    if (compresses(*compressor)) names.push_back(compressor->name);
  return names.empty() ? "none has" : fmt::format("these have: {}", fmt::join(names, ", "));
}

}  // namespace

std::string refuse_on_gpu(const CompressorChoice& choice) {
  if (choice.verbatim() || compresses(*choice.compressor)) return {};
  return fmt::format("{} has no kernels for a GPU; {}", choice.compressor->name, those_that_have());
}

}  // namespace hbench
