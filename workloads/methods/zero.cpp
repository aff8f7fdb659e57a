#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

constexpr NumberField kFields[] = {{.name = "stage", .standard = 1, .largest = 2}};

StepPlan plan(const PlanRequest& request) {
  return {{{.kind = TaskKind::forward},
           {.kind = TaskKind::backward, .after = {{0}}},
           {.kind = TaskKind::collective,
            .collective = CollectiveKind::reduce_scatter,
            .own_part = request.whole(0) == 2,
            .after = {{1, request.overlap}}},
           {.kind = TaskKind::apply, .own_part = true, .after = {{2}}},
           {.kind = TaskKind::collective,
            .collective = CollectiveKind::all_gather,
            .carried = Carried::parameters,
            .after = {{3}}}}};
}

}  // namespace

extern const Method kZero;
constinit const Method kZero{
    .name = "zero",
    .summary = "each rank has the optimizer's state (1), and gradients (2), of its part only, and gathers parameters",
    .citation = "Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, SC 2020",
    .fields = kFields,
    .plan = plan};

}  // namespace hbench
