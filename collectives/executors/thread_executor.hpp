#pragma once

/// Executors whose ranks are threads of this process.

#include <memory>
#include <vector>

#include "collectives/executors/endpoint.hpp"

namespace hbench {

/// Makes the endpoints of so many ranks.
using EndpointFactory = std::vector<std::unique_ptr<Endpoint>> (*)(int ranks);

/// Runs each collective on a rank per operand. Operands lie in host memory; where ranks have devices of their own, they
/// are copied there before and back afterwards, which is not timed.
std::unique_ptr<Executor> make_thread_executor(Seconds timeout, EndpointFactory make_endpoints);

}  // namespace hbench
