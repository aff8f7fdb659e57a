#include "workloads/methods/step_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "collectives/algorithms/algorithm.hpp"

namespace hbench {
namespace {

std::vector<int> all_of(int tensors) {
  std::vector<int> all(static_cast<std::size_t>(tensors));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

template <class Is>
bool any_exchange(const StepPlan& plan, Is is) {
  return std::ranges::any_of(plan.tasks, [&](const Task& task) { return !task.computes() && is(task); });
}

}  // namespace

std::vector<int> StepPlan::tensors_of(int index, int all) const {
  return task(index).unit == Task::kWhole ? all_of(all) : units[static_cast<std::size_t>(task(index).unit)];
}

int StepPlan::cycle() const {
  return std::accumulate(tasks.begin(), tasks.end(), 1,
                         [](int cycle, const Task& task) { return std::lcm(cycle, task.every); });
}

int StepPlan::start() const {
  int last = 0;
  for (const Task& task : tasks) last = std::max({last, task.from, task.until == Task::kNever ? 0 : task.until});
  return (last + cycle() - 1) / cycle() * cycle();
}

int least_ranks(const StepPlan& plan) {
  return std::accumulate(plan.tasks.begin(), plan.tasks.end(), 1,
                         [](int ranks, const Task& task) { return std::lcm(ranks, task.groups.unit()); });
}

bool in_lockstep(const StepPlan& plan) {
  return std::ranges::all_of(plan.tasks, [](const Task& task) { return task.computes() || task.among == Among::all; });
}

bool exchanges_among(const StepPlan& plan, Among among) {
  return any_exchange(plan, [&](const Task& task) { return task.among == among; });
}

int scatter_of(const StepPlan& plan, int all_gather) {
  const Task& gather = plan.task(all_gather);
  if (gather.computes() || gather.collective != CollectiveKind::all_gather || gather.unit != Task::kWhole) return -1;
  int scatter = -1;
  for (int task = 0; task < all_gather; ++task)
    if (!plan.task(task).computes() && plan.task(task).collective == CollectiveKind::reduce_scatter) scatter = task;
  return scatter;
}

bool applies_sums(const StepPlan& plan, int apply, int iteration) {
  return std::any_of(plan.tasks.begin(), plan.tasks.begin() + apply, [&](const Task& task) {
    const bool of_gradients = task.adds_up() && task.carried != Carried::deltas;
    return !task.computes() && of_gradients && reduces(task.collective) && task.is_in(iteration);
  });
}

bool carries_momenta(const StepPlan& plan, int iteration) {
  return any_exchange(plan,
                      [&](const Task& task) { return task.carried == Carried::momenta && task.is_in(iteration); });
}

bool carries_momenta(const StepPlan& plan) {
  return any_exchange(plan, [](const Task& task) { return task.carried == Carried::momenta; });
}

bool codes_later(const StepPlan& plan) {
  return any_exchange(
      plan, [](const Task& task) { return task.carried == Carried::gradients && task.coded() && task.from > 0; });
}

bool passes_by_unit(const StepPlan& plan) {
  return std::ranges::any_of(
      plan.tasks, [](const Task& task) { return task.kind == TaskKind::forward && task.unit != Task::kWhole; });
}

std::vector<std::vector<int>> fragments_of(const StepPlan& plan, int tensors) {
  return plan.units.empty() ? std::vector<std::vector<int>>{all_of(tensors)} : plan.units;
}

bool deltas_lie_apart(const StepPlan& plan) {
  return std::ranges::any_of(plan.tasks,
                             [](const Task& task) { return task.carried == Carried::deltas && task.lag > 0; });
}

bool carries_parameters(const StepPlan& plan) {
  return any_exchange(
      plan, [](const Task& task) { return task.carried == Carried::parameters || task.among == Among::servers; });
}

bool takes_means_with_some(const StepPlan& plan) {
  return exchanges_among(plan, Among::neighbours) || exchanges_among(plan, Among::partner);
}

bool exchanges_in(const StepPlan& plan, int iteration) {
  return any_exchange(plan, [&](const Task& task) { return task.is_in(iteration); });
}

bool exchange_ends_in(const StepPlan& plan, int iteration) {
  return any_exchange(plan, [&](const Task& task) { return task.ends_in(iteration); });
}

int exchange_lag(const StepPlan& plan, int iteration) {
  int longest = 0;
  for (const Task& task : plan.tasks)
    if (!task.computes() && task.is_in(iteration)) longest = std::max(longest, task.lag);
  return longest;
}

double exchanging_share(const StepPlan& plan) {
  int exchanging = 0;
  for (int i = 0; i < plan.cycle(); ++i) exchanging += exchanges_in(plan, plan.start() + i) ? 1 : 0;
  return static_cast<double>(exchanging) / plan.cycle();
}

bool feeds_by_tensor(const StepPlan& plan, int task) {
  return std::ranges::any_of(plan.tasks, [&](const Task& other) {
    return std::ranges::any_of(other.after, [&](const After& after) { return after.task == task && after.by_tensor; });
  });
}

bool leaves_own_parts(const Task& collective) {
  return collective.part_among || collective.collective == CollectiveKind::reduce_scatter;
}

bool ends_step(const StepPlan& plan, int task, int iteration) {
  const auto exchanges = [&](const Task& later) { return !later.computes() && later.is_in(iteration); };
  return !leaves_own_parts(plan.task(task)) && std::none_of(plan.tasks.begin() + task + 1, plan.tasks.end(), exchanges);
}

int iterations_apart(const StepPlan& plan) {
  int apart = 0;
  for (const Task& task : plan.tasks) {
    if (task.computes() || task.until != Task::kNever) continue;
    if (task.every == 1 || task.among != Among::all) return 0;
    apart = std::max(apart, task.every);
  }
  return apart;
}

Sharded sharded(const StepPlan& plan) {
  Sharded parts;
  for (const Task& task : plan.tasks)
    if (task.own_part) (task.computes() ? parts.optimizer : parts.gradients) = true;
  for (const Task& task : plan.tasks) {
    if (task.computes()) continue;
    const bool gathers = task.collective == CollectiveKind::all_gather;
    if (gathers) parts.groups = task.groups;
    parts.parameters = parts.parameters || (gathers && task.unit != Task::kWhole);
    parts.gathered_stay = parts.parameters && std::ranges::none_of(plan.tasks, &Task::frees);
  }
  return parts;
}

std::string_view to_string(TaskKind kind) {
  constexpr std::array<std::string_view, 6> kNames{"forward", "backward", "collective", "apply", "delta", "outer"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view to_string(Carried carried) {
  constexpr std::array<std::string_view, 4> kNames{"gradients", "parameters", "deltas", "momenta"};
  return kNames.at(static_cast<std::size_t>(carried));
}

std::string_view to_string(Among among) {
  constexpr std::array<std::string_view, 4> kNames{"all ranks", "servers", "neighbours", "a partner"};
  return kNames.at(static_cast<std::size_t>(among));
}

std::string describe(const Task& task) {
  std::string text(to_string(task.kind));
  if (task.kind == TaskKind::collective && task.among != Among::all)
    text = fmt::format("exchange of {} with {}", to_string(task.carried), to_string(task.among));
  else if (task.kind == TaskKind::collective)
    text = fmt::format("{} of {}", to_string(task.collective), to_string(task.carried));
  if (task.unit != Task::kWhole) text += fmt::format(" of unit {}", task.unit);
  if (task.part_among || (task.computes() && task.own_part)) text += " of the own part";
  if (!task.computes() && task.own_part) text += " whose rest is freed";
  if (task.micro_batch > 0) text += fmt::format(" in micro-batch {}", task.micro_batch);
  if (task.every > 1) text += fmt::format(", every {} iterations", task.every);
  if (task.before_last > 0) text += fmt::format(", {} before the last", task.before_last);
  if (task.lag > 0) text += fmt::format(", which ends {} later", task.lag);
  if (task.from > 0) text += fmt::format(" from iteration {}", task.from);
  if (task.until != Task::kNever) text += fmt::format(" until iteration {}", task.until);
  return text;
}

std::string name_of(const StepPlan& plan, int task) {
  return fmt::format("task {} ({})", task, describe(plan.task(task)));
}

Rank partner_of(Rank rank, int iteration, int workers) {
  constexpr std::uint64_t kSeed = 20260101;  // one number is as good as another
  std::mt19937_64 draw(kSeed + static_cast<std::uint64_t>(rank) * 1'000'003 + static_cast<std::uint64_t>(iteration));
  return (rank + std::uniform_int_distribution<int>(1, workers - 1)(draw)) % workers;
}

std::vector<Rank> neighbours_of(Rank rank, int workers) {
  if (workers < 2) return {};
  std::vector<Rank> both{(rank + workers - 1) % workers};
  if (workers > 2) both.push_back((rank + 1) % workers);
  return both;
}

}  // namespace hbench
