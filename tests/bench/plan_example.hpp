#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "bench/launch/installation.hpp"
#include "bench/sweep/plan.hpp"

namespace hbench {

/// A machine that can train two models on two ranks.
inline LocalMachine machine_of_two() {
  LocalMachine machine;
  machine.cores = machine.ranks = 2;
  machine.limits.models = {"lenet5", "resnet50"};
  machine.no_gpu = "a test's machine has no GPU; get one";
  for (const char* name : {"cuda", "nccl", "nccl-p2p"}) machine.absent[name] = machine.no_gpu;
  return machine;
}

/// The same with four GPUs on which all executors work.
inline LocalMachine machine_of_four_gpus() {
  LocalMachine machine = machine_of_two();
  machine.gpus = 4;
  machine.no_gpu.clear();
  machine.absent.clear();
  return machine;
}

/// A request for one small simulated sweep of hbench's own engine; tests change what they are about.
inline SweepRequest small_request() {
  SweepRequest request;
  request.gpus = {1, 8};
  request.workloads = {"resnet50"};
  request.profiles = {"hkbu-10gbe"};
  request.algorithms = {"ring"};
  request.compressors = {"none"};
  request.of_engine = true;
  request.evidence = {Evidence::simulated};
  return request;
}

inline Plan plan_of(const SweepRequest& request, const LocalMachine& machine = machine_of_two()) {
  static const Data kData = load_data();
  return make_plan(request, kData, machine);
}

/// `resnet50 8 ring` for each case.
inline std::vector<std::string> names(const Plan& plan) {
  std::vector<std::string> all;
  for (const Case& asked : plan.cases)
    all.push_back(fmt::format("{} {} {}", asked.workload, asked.gpus, asked.strategy.label()));
  return all;
}

inline std::vector<std::string> refusals(const Plan& plan) {
  std::vector<std::string> all;
  for (const Refusal& refusal : plan.refused) all.push_back(refusal.what + ": " + refusal.why);
  return all;
}

inline std::set<std::string> keys(const Plan& plan) {
  std::set<std::string> all;
  for (const Case& asked : plan.cases) all.insert(asked.key());
  return all;
}

}  // namespace hbench
