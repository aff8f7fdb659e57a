#pragma once

/// What the files that call MPI share.

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string_view>

#include "collectives/executors/operand.hpp"
#include "collectives/executors/operation.hpp"
#include "collectives/executors/transport.hpp"
#include "collectives/schedule.hpp"

namespace hbench {

/// \throws Error (lost_rank) when an MPI call has failed.
void succeed(int code, std::string_view what);

/// MPI counts in `int`. `bytes` is what `count` elements are. \throws Error (usage) for more.
int mpi_count(std::size_t count, std::size_t bytes);

/// `communicator` outlives what is made.
std::unique_ptr<Transport> make_mpi_transport(MPI_Comm communicator);
std::unique_ptr<Operation> make_mpi_vendor(MPI_Comm communicator, Goal goal, const Operand& operand);

}  // namespace hbench
