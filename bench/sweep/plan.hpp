#pragma once

/// The plan of a sweep: what is measured here, and what is predicted of clusters. Pure.

#include "bench/sweep/request.hpp"

namespace hbench {

/// \throws Error (usage) for a name that nothing knows, and when nothing is left to do.
Plan make_plan(const SweepRequest& request, const Data& data, const LocalMachine& machine);

}  // namespace hbench
