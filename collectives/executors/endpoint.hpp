#pragma once

/// One rank's way to the others: what the training engine and the executors run on.

#include <memory>
#include <span>
#include <vector>

#include "collectives/executors/executor.hpp"
#include "collectives/executors/operation.hpp"
#include "collectives/executors/transport.hpp"

namespace hbench {

/// Owned by its rank; called by one thread at a time.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual Transport& transport() = 0;
  /// The library's own all-reduce (sum) over all ranks, in place; its `progress` may block until all are there. Ranks
  /// call it in the same order; it begins with the call. \throws Error (usage) where there is no library behind the
  /// transport.
  virtual std::unique_ptr<Operation> vendor_all_reduce(std::span<float> buffer) = 0;
  /// Stops the whole job at once, after this rank has said why.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

/// Endpoints of `ranks` ranks that are threads of this process; they share what they need.
std::vector<std::unique_ptr<Endpoint>> make_thread_endpoints(int ranks);

/// Whether MPI was built in (whether the launcher is there is the launcher's business).
Availability mpi_availability();
/// This process's endpoint in the MPI world it was started in: initialises MPI (MPI_THREAD_SERIALIZED) when
/// made and finalises it when destroyed. \throws Error (environment) when MPI was not built in.
std::unique_ptr<Endpoint> make_mpi_endpoint();

}  // namespace hbench
