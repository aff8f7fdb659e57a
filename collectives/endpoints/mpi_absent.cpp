#include "collectives/endpoints/endpoint.hpp"

namespace hbench {

Availability mpi_availability() {
  return {false, "hbench was built without MPI", "install an MPI with its headers (such as Open MPI) and build again"};
}

std::string mpi_library() { return ""; }

std::unique_ptr<Endpoint> make_mpi_endpoint() { throw mpi_availability().error(); }

}  // namespace hbench
