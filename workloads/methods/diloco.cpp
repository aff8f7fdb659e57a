#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

/// OpenDiLoCo's values (Jaghouar et al., arXiv:2407.07852, 2024), with H of the first paper.
constexpr NumberField kFields[] = {
    {.name = "period", .standard = 500},
    {.name = "outer rate", .standard = 0.7, .smallest = 0.001, .largest = 10, .whole = false},
    {.name = "outer momentum", .standard = 0.9, .smallest = 0, .largest = 0.9999, .whole = false}};

StepPlan plan(const PlanRequest& request) {
  const int period = request.whole(0);
  OptimizerChoice nesterov = parse_optimizer("nesterov");
  nesterov.values = {request.values[2]};
  return {.tasks = {{.kind = TaskKind::forward},
                    {.kind = TaskKind::backward, .after = {{0}}},
                    {.kind = TaskKind::apply, .after = {{1}}},
                    {.kind = TaskKind::delta, .every = period, .after = {{2}}},
                    {.kind = TaskKind::collective, .carried = Carried::deltas, .every = period, .after = {{3}}},
                    {.kind = TaskKind::outer, .every = period, .after = {{4}}}},
          .outer = OuterUpdate{.optimizer = std::move(nesterov), .rate = request.values[1]}};
}

}  // namespace

extern const Method kDiloco;
constinit const Method kDiloco{
    .name = "diloco",
    .summary = "ranks train alone; after each period the mean of their changes is a gradient to an outer Nesterov SGD",
    .citation = "Douillard et al., DiLoCo: Distributed Low-Communication Training of Language Models, arXiv:2311.08105",
    .fields = kFields,
    .plan = plan};

}  // namespace hbench
