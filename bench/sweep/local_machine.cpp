#include "bench/sweep/local_machine.hpp"

#include <algorithm>

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

LocalMachine machine_of_hosts(LocalMachine here, const std::vector<HostReport>& hosts) {
  const auto of_host = [](const HostReport& host, const std::string& why) { return host.host + ": " + why; };
  here.no_training.clear();
  here.no_gpu.clear();
  here.absent.clear();
  here.gpus = hosts.empty() ? 0 : hosts.front().own.gpus;
  for (const HostReport& host : hosts) {
    const HostFacts& own = host.own;
    here.gpus = std::min(here.gpus, own.gpus);
    if (here.no_training.empty() && !own.no_training.empty()) here.no_training = of_host(host, own.no_training);
    if (here.no_gpu.empty() && own.gpus == 0) here.no_gpu = of_host(host, own.no_gpu);
    for (const auto& [executor, why] : own.absent) here.absent.try_emplace(executor, of_host(host, why));
  }
  return here;
}

LocalMachine machine_before_answers(LocalMachine here, const SweepRequest& request) {
  const auto wanted = [&](const ExecutorKind* kind) { return kind->name == request.executor && kind->on_gpu; };
  if (request.device != "gpu" && std::ranges::none_of(executors(), wanted)) return here;
  for (const AllocatedHost& host : here.allocation.hosts) here.gpus = std::max(here.gpus, host.slots);
  here.absent.clear();
  return here;
}

}  // namespace hbench
