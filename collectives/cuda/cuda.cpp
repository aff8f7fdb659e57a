#include "collectives/executors/cuda.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/error.hpp"
#include "collectives/cuda/codecs.hpp"
#include "collectives/cuda/cuda_device.hpp"
#include "collectives/cuda/facts.hpp"

namespace hbench {

Availability cuda_availability() { return cuda::availability_of(cuda::facts()); }

int cuda_devices() {
  const cuda::Facts facts = cuda::facts();
  return cuda::availability_of(facts).available ? facts.devices : 0;
}

namespace {

std::unique_ptr<Device> make_device(int gpu, bool default_stream) {
  const cuda::Facts facts = cuda::facts();
  const Availability availability = cuda::availability_of(facts);
  if (!availability.available) throw Error(ExitCode::environment, availability.reason, availability.cure);
  if (gpu < 0 || gpu >= facts.devices)
    throw Error(ExitCode::usage, fmt::format("there is no GPU {}: this process sees {}", gpu, facts.devices),
                "GPUs are counted from 0; `nvidia-smi -L` lists them, CUDA_VISIBLE_DEVICES may hide some");
  return std::make_unique<cuda::CudaDevice>(gpu, default_stream);
}

}  // namespace

std::unique_ptr<Device> make_cuda_device(int gpu) { return make_device(gpu, false); }

std::unique_ptr<Device> make_default_cuda_device(int gpu) { return make_device(gpu, true); }

int gpu_of(Rank rank) { return rank % std::max(cuda_devices(), 1); }

bool cuda_compresses(const Compressor& compressor) {
  // A momentum is kept on the host.
  return compressor.make_memory == nullptr &&
         (compressor.exchange == Exchange::low_rank || find_cuda_codec(compressor.name) != nullptr);
}

}  // namespace hbench
