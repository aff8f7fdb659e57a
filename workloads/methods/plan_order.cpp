#include <fmt/format.h>

#include "workloads/methods/plan_check.hpp"

namespace hbench {
namespace {

/// Whether a collective is of gradients' or of parameters' memory.
bool carries(const Task& task, Carried memory) {
  return (task.carried == Carried::parameters) == (memory == Carried::parameters);
}

bool reads(const Task& task, Carried memory) {
  if (task.kind == TaskKind::collective) return carries(task, memory);
  const bool updates = task.kind == TaskKind::apply || task.kind == TaskKind::outer;
  return memory == (updates ? Carried::gradients : Carried::parameters);
}

bool writes(const Task& task, Carried memory) {
  if (task.kind == TaskKind::collective && task.among == Among::servers) return memory == Carried::parameters;
  if (task.kind == TaskKind::collective) return carries(task, memory) && task.among == Among::all;
  const bool updates = task.kind == TaskKind::apply || task.kind == TaskKind::outer;
  return task.kind != TaskKind::forward && memory == (updates ? Carried::parameters : Carried::gradients);
}

std::string refuse_edges(const StepPlan& plan) {
  for (int i = 0; i < plan.size(); ++i) {
    if (plan.task(i).unit >= static_cast<int>(plan.units.size()))
      return fmt::format("{} is of a unit that the plan does not have", name_of(plan, i));
    for (const After& after : plan.task(i).after) {
      if (after.task < 0 || after.task >= i)
        return fmt::format("{} waits for task {}, which is not before it: it may wait for ever", name_of(plan, i),
                           after.task);
      if (after.by_tensor && (plan.task(i).computes() || plan.task(after.task).kind == TaskKind::forward))
        return fmt::format("{} cannot follow {} tensor by tensor", name_of(plan, i), name_of(plan, after.task));
      if (after.by_tensor && plan.task(i).after.size() > 1)
        return fmt::format("{} follows {} tensor by tensor, and then can wait for nothing else", name_of(plan, i),
                           name_of(plan, after.task));
    }
  }
  return {};
}

/// By task, those that end before it begins: its own edges' and, for one that computes, the one before it on the
/// stream.
std::vector<std::vector<bool>> all_before(const StepPlan& plan) {
  std::vector<std::vector<bool>> before;
  int computed = -1;
  for (int i = 0; i < plan.size(); ++i) {
    std::vector<bool>& mine = before.emplace_back(static_cast<std::size_t>(plan.size()), false);
    const auto follow = [&](int task) {
      if (task < 0) return;
      const auto index = static_cast<std::size_t>(task);
      mine[index] = true;
      for (std::size_t j = 0; j < index; ++j) mine[j] = mine[j] || before[index][j];
    };
    for (const After& after : plan.task(i).after) follow(after.task);
    if (!plan.task(i).computes()) continue;
    follow(computed);
    computed = i;
  }
  return before;
}

std::string refuse_races(const StepPlan& plan) {
  const std::vector<std::vector<bool>> before = all_before(plan);
  for (int i = 0; i < plan.size(); ++i)
    for (int j = 0; j < i; ++j)
      for (const Carried memory : {Carried::gradients, Carried::parameters}) {
        const Task &later = plan.task(i), &earlier = plan.task(j);
        const bool apart = later.unit != earlier.unit && later.unit != Task::kWhole && earlier.unit != Task::kWhole;
        const bool together = later.from < earlier.until && earlier.from < later.until;
        const bool conflict = (writes(later, memory) && (reads(earlier, memory) || writes(earlier, memory))) ||
                              (writes(earlier, memory) && reads(later, memory));
        if (conflict && together && !apart && !before[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)])
          return fmt::format("{} and {} use the same {} at once: neither waits for the other", name_of(plan, j),
                             name_of(plan, i), to_string(memory));
      }
  return {};
}

}  // namespace

std::string refuse_order(const StepPlan& plan) {
  const std::string refusal = refuse_edges(plan);
  return refusal.empty() ? refuse_races(plan) : refusal;
}

}  // namespace hbench
