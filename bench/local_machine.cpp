#include "bench/local_machine.hpp"

#include <fmt/format.h>

#include "bench/environment.hpp"
#include "collectives/executors/cuda.hpp"
#include "collectives/executors/executor.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

std::string in_words(const Availability& there) { return fmt::format("{}; {}", there.reason, there.cure); }

}  // namespace

LocalMachine local_machine(int oversubscribe) {
  LocalMachine machine;
  machine.asked_for = oversubscribe > 0;
  machine.ranks = machine.asked_for ? oversubscribe : available_cores();
  for (const std::string_view model : model_names()) machine.models.emplace_back(model);
  if (const Availability torch = torch_availability(); !torch.available) machine.no_training = in_words(torch);
  if (const Availability gpu = gpu_training_availability(); gpu.available)
    machine.gpus = cuda_devices();
  else
    machine.no_gpu = in_words(gpu);
  for (const ExecutorKind* kind : executors())
    if (const Availability there = kind->availability(); !there.available)
      machine.absent[std::string(kind->name)] = in_words(there);
  return machine;
}

}  // namespace hbench
