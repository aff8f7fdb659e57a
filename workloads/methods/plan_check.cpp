#include "workloads/methods/plan_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/methods/plan_ranks.hpp"

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

bool same(const Sum& a, const Sum& b) {
  return std::ranges::equal(a, b, [](const auto& left, const auto& right) {
    return left.first == right.first && std::abs(left.second - right.second) < kRounding;
  });
}

/// All ranks, iteration by iteration.
class Walk {
 public:
  Walk(const StepPlan& plan, int ranks) : plan_(plan), ranks_(plan, ranks) {}

  PlanProof run() {
    const int cycle = plan_.cycle();
    for (iteration_ = 0; iteration_ < plan_.start() + 2 * cycle && proof_.refusal.empty(); ++iteration_) {
      for (task_ = 0; task_ < plan_.size() && proof_.refusal.empty(); ++task_)
        if (task().is_in(iteration_)) do_task();
      if ((iteration_ + 1) % cycle == 0 && proof_.refusal.empty()) check_end();
    }
    if (own_share() == 1) proof_.facts.staleness.reset();
    return proof_;
  }

 private:
  const Task& task() const { return plan_.task(task_); }
  double own_share() const { return plan_.outer ? plan_.outer->own_share : 0; }
  int first_sample(int iteration) const { return iteration * plan_.micro_batches; }
  void refuse(std::string why) {
    if (proof_.refusal.empty()) proof_.refusal = std::move(why);
  }
  /// Of the task; nothing where `why` is empty.
  void refuse_task(const std::string& why) {
    if (!why.empty()) refuse(fmt::format("{} {}", name_of(plan_, task_), why));
  }
  template <class Use>
  void for_all(Use use) {
    ranks_.for_all(task(), use);
  }

  void do_task() {
    switch (task().kind) {
      case TaskKind::forward:
        for_all([&](int rank, int part) { note_staleness(ranks_.held(rank, part)); });
        return use_parameters();
      case TaskKind::backward:
        for_all([&](int rank, int part) { make(ranks_.held(rank, part), rank); });
        return use_parameters();
      case TaskKind::apply:
        for_all([&](int rank, int part) {
          if (!task().own_part || ranks_.owns(rank, part)) apply(rank, ranks_.held(rank, part));
        });
        return ranks_.free_all();
      case TaskKind::delta:
        return for_all([&](int rank, int part) { take_delta(ranks_.held(rank, part)); });
      case TaskKind::outer:
        return for_all([&](int rank, int part) { apply_outer(rank, ranks_.held(rank, part)); });
      case TaskKind::collective:
        return exchange_parts();
    }
  }

  void exchange_parts() {
    if (task().among == Among::servers) proof_.facts.staleness = task().bound;
    if (task().among == Among::neighbours || task().among == Among::partner) proof_.facts.staleness.reset();
    for (int part = 0; part < ranks_.parts(); ++part)
      if (ranks_.is_of(task(), part)) refuse_task(exchange(ranks_, plan_, task(), part, iteration_));
  }

  /// A pass reads the parameters of its unit, and frees them where it was the last that they were gathered for.
  void use_parameters() {
    for_all([&](int rank, int part) {
      Held& mine = ranks_.held(rank, part);
      if (!mine.there) refuse_task(fmt::format("reads parameters that rank {} has freed", rank));
      if (mine.frees) mine.there = ranks_.owns(rank, part);
    });
  }

  void make(Held& mine, int rank) {
    const bool later = task().micro_batch > 0 && mine.defined;
    mine.reduced = later ? std::move(mine.gradients) : Sum();
    mine.gradients = {{{rank, first_sample(iteration_) + task().micro_batch}, 1.0}};
    mine.defined = true;
  }

  void note_staleness(Held& mine) {
    if (!in_lockstep(plan_)) return;
    if (iteration_ > 0 && exchange_ends_in(plan_, iteration_ - 1)) {
      int newest = iteration_ - 1;
      while (newest > mine.newest && !has_all_of(mine.parameters, newest)) --newest;
      mine.newest = newest;
    }
    proof_.facts.staleness = std::max(*proof_.facts.staleness, iteration_ - 1 - mine.newest);
  }
  bool has_all_of(const Sum& parameters, int iteration) const {
    for (int rank = 0; rank < ranks_.ranks(); ++rank)
      for (int sample = first_sample(iteration); sample < first_sample(iteration + 1); ++sample)
        if (!parameters.contains({rank, sample})) return false;
    return true;
  }

  void apply(int rank, Held& mine) {
    if (!mine.defined) return refuse_task(fmt::format("reads gradients that are not there on rank {}", rank));
    if (mine.aside) mine.parameters = *std::exchange(mine.aside, std::nullopt);
    const double weight = applies_sums(plan_, task_, iteration_) ? 1.0 / ranks_.ranks() : 1;
    refuse_task(apply_to(mine.parameters, mine.gradients, plan_.micro_batches, weight));
  }

  void take_delta(Held& mine) const {
    mine.deltas = mine.parameters;
    add(mine.deltas, mine.original, -1);
    drop_nothing(mine.deltas);
    mine.has_deltas = true;
    mine.defined = mine.defined && deltas_lie_apart(plan_);
  }
  void apply_outer(int rank, Held& mine) {
    if (!mine.has_deltas) return refuse_task(fmt::format("reads deltas that are not there on rank {}", rank));
    refuse_task(apply_to(mine.original, mine.deltas, plan_.micro_batches));
    Sum next;
    add(next, mine.parameters, own_share());
    add(next, mine.original, 1 - own_share());
    drop_nothing(next);
    mine.parameters = std::move(next);
  }

  /// All ranks have the same parameters, or each its own part; or the servers have all, or the mean over ranks has.
  void check_end() {
    if (!in_lockstep(plan_)) return check_shared_end();
    if (plan_.outer && (!plan_.units.empty() || own_share() > 0)) return check_outer_end();
    for (int rank = 0; rank < ranks_.ranks(); ++rank)
      for (int part = 0; part < ranks_.parts(); ++part) {
        if (ranks_.sharded() && !ranks_.owns(rank, part)) continue;
        const Sum& parameters = ranks_.held(rank, part).parameters;
        check_gradients(parameters, rank);
        if (!same(parameters, ranks_.held(0, 0).parameters))
          refuse(fmt::format("rank {} ends with other parameters than rank 0", rank));
      }
  }

  void check_shared_end() {
    for (int part = 0; part < ranks_.parts(); ++part) {
      Sum all = ranks_.server(part);
      if (all.empty())
        for (int rank = 0; rank < ranks_.ranks(); ++rank) {
          if (ranks_.held(rank, part).aside)
            refuse(fmt::format("no task takes the mean that lies aside on rank {}", rank));
          add(all, ranks_.held(rank, part).parameters);
        }
      check_gradients(all, 0);
    }
  }

  /// What outer updates start from is the same on all ranks. Of the cycle before the one that has ended it has every
  /// gradient once; of those that a rank has applied beside an exchange, as much as it keeps of its own parameters
  /// then.
  void check_outer_end() {
    const int first = iteration_ + 1 - 2 * plan_.cycle();
    for (int part = 0; part < ranks_.parts(); ++part) {
      const Sum& original = ranks_.held(0, part).original;
      for (int rank = 1; rank < ranks_.ranks(); ++rank)
        if (!same(original, ranks_.held(rank, part).original))
          return refuse(fmt::format("outer updates of rank {} start from other parameters than those of rank 0", rank));
      for (int iteration = std::max(first, 0); iteration < first + plan_.cycle(); ++iteration)
        for (int from = 0; from < ranks_.ranks(); ++from) check_outer_gradient(original, part, {from, iteration});
    }
  }
  void check_outer_gradient(const Sum& original, int part, const std::pair<int, int>& gradient) {
    const double weight = (beside_exchange(part, gradient.second) ? own_share() : 1) / ranks_.ranks();
    const auto found = original.find(gradient);
    const double share = found == original.end() ? 0 : found->second;
    if (std::abs(share - weight) > kRounding)
      refuse(fmt::format("the gradient of rank {} in iteration {} counts {:.3g} times, and not {:.3g}", gradient.first,
                         gradient.second, share, weight));
  }
  /// Whether an exchange of the part has begun before an iteration, and ends in it or after it.
  bool beside_exchange(int part, int iteration) const {
    return std::ranges::any_of(plan_.tasks, [&](const Task& task) {
      for (int begin = iteration - task.lag; begin < iteration; ++begin)
        if (ranks_.is_of(task, part) && task.is_in(begin)) return true;
      return false;
    });
  }

  /// Of the cycle that has ended, in what `rank` has.
  void check_gradients(const Sum& parameters, int rank) {
    for (int sample = first_sample(iteration_ + 1 - plan_.cycle()); sample < first_sample(iteration_ + 1); ++sample)
      for (int from = 0; from < ranks_.ranks(); ++from) check_gradient(parameters, rank, {from, sample});
  }
  void check_gradient(const Sum& parameters, int rank, const std::pair<int, int>& gradient) {
    const auto of = [&] {
      return fmt::format("the gradient of rank {} in iteration {}", gradient.first,
                         gradient.second / plan_.micro_batches);
    };
    const auto found = parameters.find(gradient);
    if (found == parameters.end()) return refuse(fmt::format("no task brings {} to rank {}", of(), rank));
    const double weight = parameters.begin()->second;
    if (std::abs(found->second - weight) > kRounding)
      refuse(fmt::format("{} counts {:.3g} times on rank {}, others {:.3g}", of(), found->second, rank, weight));
  }

  const StepPlan& plan_;
  PlanRanks ranks_;
  int iteration_ = 0, task_ = 0;
  PlanProof proof_;
};

}  // namespace

std::string refuse_order(const StepPlan& plan) {
  std::string refusal = refuse_edges(plan);
  if (refusal.empty()) refusal = refuse_races(plan);
  return refusal.empty() ? refuse_lasting(plan) : refusal;
}

PlanProof prove_plan(const StepPlan& plan, int groups) {
  if (std::string refusal = refuse_order(plan); !refusal.empty()) return {.refusal = refusal, .facts = {}};
  return Walk(plan, groups * least_ranks(plan)).run();
}

}  // namespace hbench
