#include "bench/front/fuller_program.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "collectives/transport/shared_memory.hpp"

namespace hbench {
namespace {

Error not_here() { return {ExitCode::internal, "ranks under MPI are hbench-worker's, not hbench's"}; }

}  // namespace

Availability mpi_availability() { return fuller_availability(); }

std::string mpi_library() { return fuller_facts().mpi; }

std::unique_ptr<Endpoint> make_mpi_endpoint() { throw not_here(); }

Availability shm_availability() {
  Availability worker = fuller_availability();
  return worker.available ? SharedMemory::availability() : worker;
}

std::unique_ptr<Endpoint> make_shm_endpoint(int) { throw not_here(); }

}  // namespace hbench
