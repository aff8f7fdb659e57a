#include "bench/worker/facts.hpp"

#include <fmt/format.h>

#include "collectives/base/error.hpp"
#include "collectives/base/json_fields.hpp"
#include "collectives/base/read_json.hpp"

namespace hbench {

template <class Walk, Either<Availability> Available>
void describe_fields(Walk& walk, Available& what) {
  walk("available", what.available)("reason", what.reason)("cure", what.cure);
}

template <class Walk, Either<WorkerFacts> Facts>
void describe_fields(Walk& walk, Facts& facts) {
  walk("torch", facts.torch)("mpi", facts.mpi)("nccl", facts.nccl)("gpu_training", facts.gpu_training);
}

std::string to_json(const WorkerFacts& facts) { return nlohmann::json(facts).dump(); }

WorkerFacts parse_worker_facts(std::string_view json) {
  try {
    return read_json(json).get<WorkerFacts>();
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::internal, fmt::format("cannot parse the output of 'hbench-worker facts': {}", error.what()));
  }
}

}  // namespace hbench
