#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

StepPlan plan_synchronous(const PlanRequest& request) {
  return {{{.kind = TaskKind::forward},
           {.kind = TaskKind::backward, .after = {{0}}},
           {.kind = TaskKind::collective, .after = {{1, request.overlap}}},
           {.kind = TaskKind::apply, .after = {{2}}}}};
}

}  // namespace

extern constinit const Method kSynchronous{
    .name = "synchronous",
    .summary = "all ranks apply the sum of all gradients, every iteration",
    .citation = "Goyal et al., Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour, arXiv:1706.02677, 2017",
    .plan = plan_synchronous};

}  // namespace hbench
