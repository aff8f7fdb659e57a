#pragma once

/// Executors whose ranks are threads of this process.

#include <memory>

#include "collectives/executors/endpoint.hpp"

namespace hbench {

/// Runs each collective on a rank per operand. Operands lie in host memory; where ranks have devices of their own, they
/// are copied there before and back afterwards, which is not timed.
std::unique_ptr<Executor> make_thread_executor(Seconds timeout, DeviceFactory device = {});

}  // namespace hbench
