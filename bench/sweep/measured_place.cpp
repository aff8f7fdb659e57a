#include "bench/sweep/measured_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/records/fingerprint.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/launch/host.hpp"
#include "bench/launch/process.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "collectives/executors/executor.hpp"
#include "workloads/data/dataset.hpp"
#include "workloads/models/models.hpp"

namespace hbench {
namespace {

constexpr StepDefaults kOnCores{"resnet18", 16, 64, Precision::float32};
constexpr StepDefaults kOnGpus{"resnet50", 64, 224, Precision::tf32};

const ExecutorKind& kind_of(std::string_view name) { return find_entry(executors(), name, "executor"); }

TrainingStrategy strategy_alone(const SweepRequest& request, bool on_gpu) {
  const StepDefaults& defaults = step_defaults(on_gpu);
  const Precision precision = request.precision.empty() ? defaults.precision : parse_precision(request.precision);
  const PrecisionEntry& entry = entry_of(precision);
  if (entry.gpu_only && !on_gpu)
    throw Error(ExitCode::usage, fmt::format("--precision {} needs a GPU, and is asked for on CPU cores", entry.name),
                "on CPU cores there are float32 and bf16");
  TrainingStrategy alone = no_communication(on_gpu, precision);
  if (request.optimizer && !request.optimizer->is_sgd()) alone.optimizer = request.optimizer;
  return alone;
}

Case baseline_of(const SweepRequest& request, const TrainingStrategy& alone, const std::string& emulated) {
  const StepDefaults& defaults = step_defaults(alone.on_gpu);
  Case asked;
  time_here(asked, emulated);
  asked.batch_per_gpu = request.batch > 0 ? request.batch : defaults.batch;
  if (request.data.empty() || has_pictures(request.data))
    asked.image_size = request.image_size > 0 ? request.image_size : defaults.image_size;
  asked.training.data = request.data;
  asked.training.epochs = request.epochs;
  asked.training.learning_rate = request.learning_rate;
  asked.implementation = kEngineRevision;
  asked.source = fmt::format("this machine's {}, LibTorch, {}", alone.on_gpu ? "GPUs" : "CPU cores",
                             request.data.empty() ? "synthetic images" : request.data);
  return planned(asked, alone);
}

/// Best first.
std::vector<std::string_view> candidates(bool on_gpu, bool opaque, bool shares_gpus) {
  if (!on_gpu) return {"mpi", "threads"};
  if (opaque) return {"nccl"};
  if (shares_gpus) return {"cuda"};  // NCCL before 2.30 takes one rank for each GPU
  return {"nccl-p2p", "cuda"};
}

/// On GPUs a slot that a job has takes one, unless ranks share them: a job often has a task for each core. Where its
/// engine says nothing of GPUs, its hosts have those of this machine.
void fit_to_gpus(LocalMachine& machine, const SweepRequest& request) {
  Allocation& job = machine.allocation;
  LocalMachine there = machine;
  if (job.gpus.value_or(0) > 0) there.gpus = *job.gpus;
  if (!job.gpus || there.gpus == 0 || !chooses_gpus(request, there)) return;
  if (job.note.empty()) job.note = note_of_idle_gpus(job, there.gpus);
  const auto shares = [](const NodeLayout& layout) { return layout.processes_per_gpu > 1; };
  if (machine.asked_for || std::ranges::any_of(request.layouts, shares)) return;
  for (AllocatedHost& host : job.hosts) {
    if (host.slots > there.gpus && job.note.empty())
      job.note = fmt::format("{} has {} slots and {} GPUs, so it takes no more ranks: --device cpu uses all slots",
                             host.name, host.slots, there.gpus);
    host.slots = std::min(host.slots, there.gpus);
  }
}

}  // namespace

bool chooses_gpus(const SweepRequest& request, const LocalMachine& machine) {
  const std::optional<bool> asked = request.device.empty() ? std::nullopt : std::optional(parse_on_gpu(request.device));
  if (request.executor.empty()) return asked.value_or(machine.gpus > 0);
  const ExecutorKind& kind = kind_of(request.executor);
  if (kind.evidence != "measured")
    throw Error(ExitCode::usage, fmt::format("--executor {}: it computes times, and measures none", kind.name),
                "leave it out: --evidence simulated says the same");
  if (kind.on_gpu != asked.value_or(kind.on_gpu))
    throw Error(ExitCode::usage, fmt::format("--executor {} does not work on --device {}", kind.name, request.device),
                "hbench list executors says where each works");
  return kind.on_gpu;
}

const StepDefaults& step_defaults(bool on_gpu) { return on_gpu ? kOnGpus : kOnCores; }

ExecutorChoice MeasuredPlace::executor_for(const TrainingStrategy& strategy, int nodes, bool shares_gpus) const {
  const AlgorithmRule& algorithm = strategy.algorithm;
  std::string why;
  const auto names = executor.empty() ? candidates(on_gpu, algorithm.is_vendor(), shares_gpus)
                                      : std::vector<std::string_view>{executor};
  for (const std::string_view name : names) {
    const ExecutorKind& kind = kind_of(name);
    std::string refused = kind.refuses != nullptr ? kind.refuses(strategy.compressor) : "";
    if (const auto missing = absent.find(name); missing != absent.end())
      why = missing->second;
    else if (!refused.empty())
      why = std::move(refused);
    else if (nodes > 1 && !kind.across_hosts)
      why = fmt::format("the executor {} does not reach other hosts", name);
    else if (algorithm.is_vendor() && kind.runs == ExecutorKind::Runs::schedules)
      why = fmt::format("the executor {} has no library's own collectives", name);
    else if (!algorithm.is_vendor() && kind.runs == ExecutorKind::Runs::vendor)
      why = fmt::format("the executor {} runs NCCL's own collectives alone; nccl-p2p and cuda run ours", name);
    else
      return {&kind, ""};
  }
  return {nullptr, why};
}

MeasuredPlace measured_place(const SweepRequest& request, const LocalMachine& machine) {
  MeasuredPlace place;
  static_cast<TrainingMeans&>(place) = machine;
  place.on_gpu = chooses_gpus(request, machine);
  place.model = request.data.empty() ? step_defaults(place.on_gpu).model : usual_model(request.data);
  place.alone = strategy_alone(request, place.on_gpu);
  place.baseline = baseline_of(request, place.alone, machine.emulated);
  place.executor = request.executor;
  place.ranks = place.on_gpu && !machine.asked_for ? machine.gpus : machine.ranks;
  if (!machine.allocation.is_local()) place.ranks = machine.allocation.slots();
  const Allocation& hosts = machine.allocation;
  place.bound = !hosts.is_local() ? fmt::format("{} has {}", hosts.in_words(), counted(hosts.slots(), "slot"))
                : place.on_gpu
                    ? fmt::format("this machine has {} GPU{}; --oversubscribe N lets up to N ranks share them",
                                  machine.gpus, machine.gpus == 1 ? "" : "s")
                    : fmt::format("this machine has {} cores; --oversubscribe N measures up to N ranks", machine.ranks);
  if (place.on_gpu && machine.gpus == 0) place.refusal = machine.no_gpu;
  return place;
}

void time_here(Case& asked, const std::string& emulated) {
  asked.evidence = emulated.empty() ? Evidence::measured : Evidence::emulated;
  asked.profile = emulated.empty() ? std::string(kLocalProfile) : emulated;
}

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
  fit_to_gpus(here, request);
  LocalMachine without_gpus = here;
  without_gpus.gpus = 0;
  if (!chooses_gpus(request, without_gpus)) return here;
  for (const AllocatedHost& host : here.allocation.hosts) here.gpus = std::max(here.gpus, host.slots);
  here.absent.clear();
  return here;
}

}  // namespace hbench
