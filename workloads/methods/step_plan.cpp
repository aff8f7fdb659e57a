#include "workloads/methods/step_plan.hpp"

#include <fmt/format.h>

#include <numeric>

#include "collectives/algorithms/algorithm.hpp"

namespace hbench {

int StepPlan::cycle() const {
  return std::accumulate(tasks.begin(), tasks.end(), 1,
                         [](int cycle, const Task& task) { return std::lcm(cycle, task.every); });
}

Sharded sharded(const StepPlan& plan) {
  Sharded parts;
  for (const Task& task : plan.tasks)
    if (task.own_part) (task.computes() ? parts.optimizer : parts.gradients) = true;
  return parts;
}

std::string_view to_string(TaskKind kind) {
  switch (kind) {
    case TaskKind::forward:
      return "forward";
    case TaskKind::backward:
      return "backward";
    case TaskKind::collective:
      return "collective";
    case TaskKind::apply:
      return "apply";
  }
  return "";
}

std::string_view to_string(Carried carried) { return carried == Carried::gradients ? "gradients" : "parameters"; }

std::string describe(const Task& task) {
  std::string text(to_string(task.kind));
  if (task.kind == TaskKind::collective)
    text = fmt::format("{} of {}", to_string(task.collective), to_string(task.carried));
  if (task.own_part) text += task.computes() ? " of the own part" : " whose rest is freed";
  if (task.every > 1) text += fmt::format(", every {} iterations", task.every);
  return text;
}

}  // namespace hbench
