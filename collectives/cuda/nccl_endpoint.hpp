#pragma once

#include <memory>

#include "collectives/cuda/nccl_communicator.hpp"
#include "collectives/endpoints/endpoint.hpp"

namespace hbench::cuda {

/// An endpoint whose collectives are NCCL's on `device`; all other messages use the transport of `inner`, the same rank
/// of the same job.
/// \pre `device` is a GPU's, that of the communicator.
std::unique_ptr<Endpoint> make_nccl_endpoint(std::shared_ptr<Endpoint> inner, std::shared_ptr<Device> device,
                                             std::shared_ptr<NcclCommunicator> communicator);

}  // namespace hbench::cuda
