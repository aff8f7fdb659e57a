#pragma once

/// The plan of methods that begin as synchronous ones, without a compressor, and go on otherwise. Internal to
/// `methods/`.

#include "workloads/methods/method.hpp"

namespace hbench {

/// \param request its first value is the iteration of the job in which `later` takes the place of gradients as they are
inline StepPlan later_plan(const PlanRequest& request, Carried later) {
  const int start = request.whole(0);
  return {{{.kind = TaskKind::forward},
           {.kind = TaskKind::backward, .after = {{0}}},
           {.kind = TaskKind::collective, .compressor = "none", .until = start, .after = {{1, request.overlap}}},
           {.kind = TaskKind::collective, .carried = later, .from = start, .after = {{1, request.overlap}}},
           {.kind = TaskKind::apply, .after = {{2}, {3}}}}};
}

/// The optimizer's momentum travels, with its variance as it is.
inline StepPlan momenta_plan(const PlanRequest& request) { return later_plan(request, Carried::momenta); }

}  // namespace hbench
