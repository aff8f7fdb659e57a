#include "collectives/endpoints/endpoint.hpp"

namespace hbench {

Availability shm_availability() {
  return {false, "hbench was built without MPI, by which ranks that share memory start",
          "install an MPI with its headers (such as Open MPI) and build again"};
}

std::unique_ptr<Endpoint> make_shm_endpoint(int) { throw shm_availability().error(); }

Availability mpi_availability() {
  return {false, "hbench was built without MPI", "install an MPI with its headers (such as Open MPI) and build again"};
}

std::string mpi_library() { return ""; }

std::unique_ptr<Endpoint> make_mpi_endpoint() { throw mpi_availability().error(); }

}  // namespace hbench
