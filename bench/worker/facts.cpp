#include "bench/worker/facts.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "collectives/base/error.hpp"

namespace hbench {

std::string to_json(const WorkerFacts& facts) {
  const Availability& gpu = facts.gpu_training;
  return nlohmann::json{
      {"torch", facts.torch},
      {"mpi", facts.mpi},
      {"nccl", facts.nccl},
      {"gpu_training", {{"available", gpu.available}, {"reason", gpu.reason}, {"cure", gpu.cure}}},
  }
      .dump();
}

WorkerFacts parse_worker_facts(std::string_view json) {
  try {
    const auto facts = nlohmann::json::parse(json);
    const auto& gpu = facts.at("gpu_training");
    return {.torch = facts.at("torch").get<std::map<std::string, std::string>>(),
            .mpi = facts.at("mpi"),
            .nccl = facts.at("nccl"),
            .gpu_training = {gpu.at("available"), gpu.at("reason"), gpu.at("cure")}};
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::internal, fmt::format("cannot parse the output of 'hbench-worker facts': {}", error.what()));
  }
}

}  // namespace hbench
