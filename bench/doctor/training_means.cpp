#include "bench/doctor/training_means.hpp"

#include "collectives/cuda/cuda.hpp"
#include "collectives/executors/executor.hpp"
#include "workloads/libtorch.hpp"

namespace hbench {

TrainingMeans own_training_means() {
  TrainingMeans means;
  if (const Availability torch = torch_availability(); !torch.available) means.no_training = torch.in_words();
  if (const Availability gpu = gpu_training_availability(); gpu.available)
    means.gpus = cuda_devices();
  else
    means.no_gpu = gpu.in_words();
  for (const ExecutorKind* kind : executors())
    if (const Availability there = kind->availability(); !there.available)
      means.absent[std::string(kind->name)] = there.in_words();
  return means;
}

}  // namespace hbench
