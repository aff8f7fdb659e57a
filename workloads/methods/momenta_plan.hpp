#pragma once

/// The plan of methods that begin as synchronous ones and then exchange the optimizer's momentum, with its variance as
/// it is. Internal to `methods/`.

#include "workloads/methods/method.hpp"

namespace hbench {

/// \param request its first value is the iteration of the job in which the momentum takes the gradients' place
inline StepPlan momenta_plan(const PlanRequest& request) {
  const int start = request.whole(0);
  return {{{.kind = TaskKind::forward},
           {.kind = TaskKind::backward, .after = {{0}}},
           {.kind = TaskKind::collective, .compressor = "none", .until = start, .after = {{1, request.overlap}}},
           {.kind = TaskKind::collective, .carried = Carried::momenta, .from = start, .after = {{1, request.overlap}}},
           {.kind = TaskKind::apply, .after = {{2}, {3}}}}};
}

}  // namespace hbench
