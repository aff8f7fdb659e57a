#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "workloads/methods/plan_check.hpp"

namespace hbench {
namespace {

/// Which tasks read and write what, by the memory in which it lies: that of gradients, of parameters, or of deltas that
/// lie apart.
class Uses {
 public:
  explicit Uses(const StepPlan& plan) : deltas_(deltas_lie_apart(plan) ? Carried::deltas : Carried::gradients) {}

  bool reads(const Task& task, Carried memory) const {
    switch (task.kind) {
      case TaskKind::collective:
        return memory == memory_of(task);
      case TaskKind::apply:
        return memory == Carried::gradients;
      case TaskKind::outer:
        return memory == deltas_;
      default:
        return memory == Carried::parameters;
    }
  }
  bool writes(const Task& task, Carried memory) const {
    switch (task.kind) {
      case TaskKind::forward:
        return false;
      case TaskKind::backward:
        return memory == Carried::gradients;
      case TaskKind::delta:
        return memory == deltas_;
      case TaskKind::collective:
        if (task.among == Among::servers) return memory == Carried::parameters;
        return memory == memory_of(task) && task.among == Among::all;
      default:
        return memory == Carried::parameters;
    }
  }
  /// What two tasks cannot use at once: one of them writes it.
  std::optional<Carried> conflict(const Task& a, const Task& b) const {
    if (a.unit != b.unit && a.unit != Task::kWhole && b.unit != Task::kWhole) return std::nullopt;
    for (const Carried memory : {Carried::gradients, Carried::parameters, Carried::deltas})
      if ((writes(a, memory) && (reads(b, memory) || writes(b, memory))) || (writes(b, memory) && reads(a, memory)))
        return memory;
    return std::nullopt;
  }

 private:
  Carried memory_of(const Task& collective) const {
    if (collective.carried == Carried::parameters) return Carried::parameters;
    return collective.carried == Carried::deltas ? deltas_ : Carried::gradients;
  }

  Carried deltas_;  ///< where they lie
};

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
  const Uses uses(plan);
  for (int i = 0; i < plan.size(); ++i)
    for (int j = 0; j < i; ++j) {
      const Task &later = plan.task(i), &earlier = plan.task(j);
      const bool together = later.from < earlier.until && earlier.from < later.until;
      if (!together || before[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]) continue;
      if (const std::optional<Carried> memory = uses.conflict(later, earlier))
        return fmt::format("{} and {} use the same {} at once: neither waits for the other", name_of(plan, j),
                           name_of(plan, i), to_string(*memory));
    }
  return {};
}

/// Of a collective that goes on beside later iterations: what disturbs it there.
std::string refuse_beside(const StepPlan& plan, int collective) {
  const Uses uses(plan);
  const Task& lasting = plan.task(collective);
  for (int begin = plan.start(); begin < plan.start() + plan.cycle(); ++begin)
    for (int iteration = begin; lasting.is_in(begin) && iteration <= begin + lasting.lag; ++iteration)
      for (int i = 0; i < plan.size(); ++i) {
        const Task& other = plan.task(i);
        if (i == collective || !other.is_in(iteration)) continue;
        if (!other.computes())
          return fmt::format("{} begins while {} goes on", name_of(plan, i), name_of(plan, collective));
        if (iteration == begin) continue;  // as other collectives
        const bool waits = std::ranges::find(other.after, collective, &After::task) != other.after.end();
        if (!(waits && iteration == begin + lasting.lag) && uses.conflict(lasting, other))
          return fmt::format("{} uses what {} has not brought yet", name_of(plan, i), name_of(plan, collective));
      }
  return {};
}

std::string refuse_lasting(const StepPlan& plan) {
  for (int i = 0; i < plan.size(); ++i) {
    if (plan.task(i).lag == 0) continue;
    if (plan.task(i).computes() || plan.task(i).unit == Task::kWhole || plan.task(i).among != Among::all)
      return fmt::format("{} cannot go on beside later iterations: collectives of a unit among all can",
                         name_of(plan, i));
    if (std::string refusal = refuse_beside(plan, i); !refusal.empty()) return refusal;
  }
  return {};
}

}  // namespace

std::string refuse_order(const StepPlan& plan) {
  std::string refusal = refuse_edges(plan);
  if (refusal.empty()) refusal = refuse_races(plan);
  return refusal.empty() ? refuse_lasting(plan) : refusal;
}

}  // namespace hbench
