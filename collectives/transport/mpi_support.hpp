#pragma once

/// Shared by the files that call MPI.

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/schedule/schedule.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

/// \throws Error (lost_rank) when an MPI call has failed.
void succeed(int code, std::string_view what);

/// Returns `count` as MPI takes it, an `int`; `bytes` is the size of `count` elements, for the error message. \throws
/// Error (usage) when there are more elements than an `int` counts.
int mpi_count(std::size_t count, std::size_t bytes);

/// By rank of `all`, its number in `part`, or -1 where it is none of it.
std::vector<Rank> numbers_in(MPI_Comm part, MPI_Comm all);

/// Messages, and MPI's own collectives, on `communicator`, which outlives them.
std::unique_ptr<Transport> make_mpi_transport(MPI_Comm communicator);
std::unique_ptr<Operation> make_mpi_vendor(MPI_Comm communicator, CollectiveKind collective, const Operand& operand);

}  // namespace hbench
