#pragma once

#include <memory>
#include <vector>

#include "collectives/endpoints/endpoint.hpp"

namespace hbench {

/// Endpoints of ranks that are threads of this process, rank r on GPU r modulo their number; each reads its peers'
/// memory. \throws Error (environment) where GPUs cannot be used.
std::vector<std::unique_ptr<Endpoint>> make_cuda_endpoints(int ranks);

/// The endpoint of this process, a rank of the job of `home`, which outlives it: on the GPU of its number among the
/// ranks of its host. Ranks open each other's memory (CUDA IPC). All ranks call it. \throws Error (usage) where they
/// are on several hosts, (environment) where GPUs cannot be used.
std::unique_ptr<Endpoint> make_cuda_endpoint(Endpoint& home);

}  // namespace hbench
