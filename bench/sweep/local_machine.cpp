#include "bench/sweep/local_machine.hpp"

#include <algorithm>

#include "bench/doctor/available_memory.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/launch/host.hpp"
#include "bench/launch/process.hpp"
#include "bench/sweep/measured_place.hpp"
#include "workloads/models/models.hpp"

namespace hbench {

LocalMachine machine_at_rest() {
  LocalMachine machine;
  for (const ModelEntry* model : models()) machine.limits.models.emplace_back(model->name);
  machine.limits.memory = available_memory();
  return machine;
}

SimulationMeans simulation_means(Progress& progress) {
  return {.memory = available_memory(),
          .stop = interrupted,
          .more = [&](Seconds work) { progress.more(work.value); },
          .begun = [&](std::string_view what) { progress.doing(what); },
          .done = [&](Seconds work) { progress.done(work.value); }};
}

LocalMachine local_machine(int oversubscribe, Allocation allocation) {
  LocalMachine machine = machine_at_rest();
  machine.emulated = emulated_network();
  machine.asked_for = oversubscribe > 0;
  machine.allocation = std::move(allocation);
  machine.cores = available_cores();
  machine.ranks = machine.asked_for ? oversubscribe : machine.cores;
  static_cast<TrainingMeans&>(machine) = own_training_means();
  return machine;
}

LocalMachine machine_of_hosts(LocalMachine here, const std::vector<HostFacts>& hosts) {
  const auto of_host = [](const HostFacts& host, const std::string& why) { return host.name + ": " + why; };
  TrainingMeans& all = here;
  all = {};
  if (!hosts.empty()) all.gpus = hosts.front().training.gpus;
  for (const HostFacts& host : hosts) {
    const TrainingMeans& own = host.training;
    all.gpus = std::min(all.gpus, own.gpus);
    if (all.no_training.empty() && !own.no_training.empty()) all.no_training = of_host(host, own.no_training);
    if (all.no_gpu.empty() && own.gpus == 0) all.no_gpu = of_host(host, own.no_gpu);
    for (const auto& [executor, why] : own.absent) all.absent.try_emplace(executor, of_host(host, why));
  }
  return here;
}

LocalMachine machine_before_answers(LocalMachine here, const SweepRequest& request) {
  LocalMachine without_gpus = here;
  without_gpus.gpus = 0;
  if (!chooses_gpus(request, without_gpus)) return here;
  for (const AllocatedHost& host : here.allocation.hosts) here.gpus = std::max(here.gpus, host.slots);
  here.absent.clear();
  return here;
}

}  // namespace hbench
