#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

/// The values of the example in PyTorch's documentation (torch.distributed.optim.PostLocalSGDOptimizer).
constexpr NumberField kFields[] = {{.name = "period", .standard = 4}, {.name = "start", .standard = 100}};

StepPlan plan(const PlanRequest& request) {
  const int period = request.whole(0), start = request.whole(1);
  return {
      {{.kind = TaskKind::forward},
       {.kind = TaskKind::backward, .after = {{0}}},
       {.kind = TaskKind::collective, .until = start, .after = {{1, request.overlap}}},
       {.kind = TaskKind::apply, .after = {{1}, {2}}},
       {.kind = TaskKind::collective, .carried = Carried::parameters, .every = period, .from = start, .after = {{3}}}}};
}

}  // namespace

extern const Method kPostLocalSgd;
/// As in the paper and unlike PyTorch's hook, which goes on to sum gradients within each node, ranks train alone.
constinit const Method kPostLocalSgd{
    .name = "post-local-sgd",
    .summary = "as synchronous until an iteration of the job, and as local-sgd from there",
    .citation = "Lin et al., Don't Use Large Mini-Batches, Use Local SGD, ICLR 2020, arXiv:1808.07217",
    .fields = kFields,
    .plan = plan};

}  // namespace hbench
