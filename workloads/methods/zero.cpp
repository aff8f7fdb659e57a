#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

constexpr NumberField kFields[] = {{.name = "stage", .standard = 1, .largest = 2}};

/// A rank that keeps its own part of the gradients alone scatters those of each micro-batch, and waits for that before
/// the next, as DeepSpeed does (github.com/deepspeedai/DeepSpeed/issues/2252).
StepPlan plan(const PlanRequest& request) {
  const bool keeps_own = request.whole(0) == 2;
  StepPlan plan{.tasks = {}, .micro_batches = keeps_own ? request.model.micro_batches : 1};
  const auto add = [&](Task task) {
    plan.tasks.push_back(std::move(task));
    return plan.size() - 1;
  };
  int last = -1;
  for (int micro_batch = 0; micro_batch < plan.micro_batches; ++micro_batch) {
    const int forward = add({.kind = TaskKind::forward,
                             .micro_batch = micro_batch,
                             .after = last < 0 ? std::vector<After>() : std::vector<After>{{last}}});
    const int backward = add({.kind = TaskKind::backward, .micro_batch = micro_batch, .after = {{forward}}});
    last = add({.kind = TaskKind::collective,
                .collective = CollectiveKind::reduce_scatter,
                .own_part = keeps_own,
                .micro_batch = micro_batch,
                .after = {{backward, request.overlap}}});
  }
  const int applied = add({.kind = TaskKind::apply, .own_part = true, .after = {{last}}});
  add({.kind = TaskKind::collective,
       .collective = CollectiveKind::all_gather,
       .carried = Carried::parameters,
       .after = {{applied}}});
  return plan;
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
