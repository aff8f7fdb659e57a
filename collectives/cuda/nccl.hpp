#pragma once

/// NCCL between ranks that are threads of this process, or processes of a job under MPI, on one host or many. Without
/// it in the build: `nccl_absent.cpp`.

#include <memory>
#include <string>
#include <vector>

#include "collectives/endpoints/endpoint.hpp"

namespace hbench {

/// Whether GPUs can be used here, and NCCL was built in.
Availability nccl_availability();

/// Of the NCCL that is loaded: `2.28.3`; empty without. Does not ask the driver.
std::string nccl_version();

/// Returns the endpoints of ranks that are threads, rank r on GPU r modulo the number of GPUs. Their `vendor` is NCCL's
/// own collective; schedules run as rounds of ncclSend and ncclRecv. A job that one rank aborts, or leaves in the
/// middle of a collective, is over for all: their communicators are aborted. \throws Error (environment) where NCCL is
/// absent, or refuses `ranks` ranks on the number of GPUs that there are.
std::vector<std::unique_ptr<Endpoint>> make_nccl_endpoints(int ranks);

/// The endpoint of this process, a rank of the job of `home`, which outlives it: on the GPU of its number among the
/// ranks of its host. All ranks call it. \throws Error (lost_rank) when one does not.
std::unique_ptr<Endpoint> make_nccl_endpoint(Endpoint& home);

}  // namespace hbench
