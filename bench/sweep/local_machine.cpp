#include "bench/sweep/local_machine.hpp"

#include "bench/doctor/available_memory.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/launch/host.hpp"
#include "collectives/cuda/cuda.hpp"
#include "collectives/executors/executor.hpp"
#include "workloads/models/models.hpp"
#include "workloads/training.hpp"

namespace hbench {

LocalMachine machine_at_rest() {
  LocalMachine machine;
  for (const ModelEntry* model : models()) machine.models.emplace_back(model->name);
  machine.memory = available_memory();
  return machine;
}

LocalMachine local_machine(int oversubscribe, Allocation allocation) {
  LocalMachine machine = machine_at_rest();
  machine.emulated = emulated_network();
  machine.asked_for = oversubscribe > 0;
  machine.allocation = std::move(allocation);
  machine.cores = available_cores();
  machine.ranks = machine.asked_for ? oversubscribe : machine.cores;
  if (const Availability torch = torch_availability(); !torch.available) machine.no_training = torch.in_words();
  if (const Availability gpu = gpu_training_availability(); gpu.available)
    machine.gpus = cuda_devices();
  else
    machine.no_gpu = gpu.in_words();
  for (const ExecutorKind* kind : executors())
    if (const Availability there = kind->availability(); !there.available)
      machine.absent[std::string(kind->name)] = there.in_words();
  return machine;
}

}  // namespace hbench
