#pragma once

/// What hbench asks hbench-worker about the libraries that only the worker is linked with: `hbench-worker facts`.

#include <map>
#include <string>
#include <string_view>

#include "collectives/base/library.hpp"

namespace hbench {

struct WorkerFacts {
  std::map<std::string, std::string> torch;  ///< as `torch_facts`
  std::string mpi;                           ///< as `mpi_library`
  std::string nccl;                          ///< as `nccl_version`
  Availability gpu_training;                 ///< as `gpu_training_availability`
};

/// Of the libraries of this very process. Asks the GPU's driver.
WorkerFacts own_facts();

/// One line.
std::string to_json(const WorkerFacts& facts);
/// \throws Error (internal) for what `to_json` does not write.
WorkerFacts parse_worker_facts(std::string_view json);

}  // namespace hbench
