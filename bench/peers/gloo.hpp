#pragma once

#include <gloo/context.h>

#include <memory>

#include "collectives/base/units.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

/// Gloo's connections between all ranks, over TCP on the loopback interface; addresses are exchanged by `transport`.
/// \throws Error (lost_rank, environment).
std::shared_ptr<gloo::Context> connect_gloo_context(Transport& transport, Seconds timeout);

}  // namespace hbench
