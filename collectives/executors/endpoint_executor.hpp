#pragma once

/// Executors whose ranks are processes: this one has one rank, one endpoint and one buffer.

#include <memory>

#include "collectives/executors/endpoint.hpp"

namespace hbench {

/// `collective`'s part of one rank: what its `prepare` makes, its schedule's, or the vendor's own all-reduce (which
/// begins here).
std::unique_ptr<Operation> prepare_part(const Collective& collective, Endpoint& endpoint, const Operand& operand);

/// Runs collectives on `endpoint`; the ranks begin each together.
std::unique_ptr<Executor> make_endpoint_executor(std::unique_ptr<Endpoint> endpoint, Seconds timeout);

}  // namespace hbench
