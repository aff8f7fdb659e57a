#pragma once

#include <memory>
#include <vector>

#include "collectives/executors/endpoint.hpp"

namespace hbench {

/// Endpoints of ranks that are threads of this process, rank r on GPU r modulo their number; each reads its peers'
/// memory. \throws Error (environment) where GPUs cannot be used.
std::vector<std::unique_ptr<Endpoint>> make_cuda_endpoints(int ranks);

}  // namespace hbench
