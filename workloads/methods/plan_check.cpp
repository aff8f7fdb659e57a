#include "workloads/methods/plan_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace hbench {
namespace {

/// A gradient's rank and micro-batch, counted over all iterations, and how much of it is in a number.
using Sum = std::map<std::pair<int, int>, double>;

constexpr double kRounding = 1e-9;

void add(Sum& to, const Sum& what, double weight = 1) {
  for (const auto& [gradient, share] : what) to[gradient] += weight * share;
}

bool same(const Sum& a, const Sum& b) {
  return std::ranges::equal(a, b, [](const auto& left, const auto& right) {
    return left.first == right.first && std::abs(left.second - right.second) < kRounding;
  });
}

/// What a rank holds of one part of a unit of the model; each unit has as many parts as there are ranks, and rank r
/// owns part r of each, or of parts that are shared out within groups those of its place.
struct Held {
  Sum parameters, gradients;  ///< in the place of gradients also deltas
  Sum reduced;                ///< gradients of earlier micro-batches, which have been reduced
  Sum original;               ///< the parameters after the last outer update
  std::optional<Sum> aside;   ///< the mean of parameters that an apply task takes
  bool defined = false;       ///< the gradients
  bool there = true;          ///< the parameters
};

std::string name_of(const StepPlan& plan, int task) {
  return fmt::format("task {} ({})", task, describe(plan.task(task)));
}

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
        const bool conflict = (writes(later, memory) && (reads(earlier, memory) || writes(earlier, memory))) ||
                              (writes(earlier, memory) && reads(later, memory));
        if (conflict && !apart && !before[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)])
          return fmt::format("{} and {} use the same {} at once: neither waits for the other", name_of(plan, j),
                             name_of(plan, i), to_string(memory));
      }
  return {};
}

/// All ranks, iteration by iteration.
class Walk {
 public:
  Walk(const StepPlan& plan, int ranks)
      : plan_(plan),
        ranks_(ranks),
        parts_(ranks * std::max(1, static_cast<int>(plan.units.size()))),
        sharded_(sharded(plan).parameters),
        shards_(sharded(plan).groups),
        held_(static_cast<std::size_t>(ranks), std::vector<Held>(static_cast<std::size_t>(parts_))),
        servers_(static_cast<std::size_t>(parts_)) {
    if (sharded_) free_all();
  }

  PlanProof run() {
    const int cycle = plan_.cycle();
    for (iteration_ = 0; iteration_ < plan_.start() + 2 * cycle && proof_.refusal.empty(); ++iteration_) {
      for (task_ = 0; task_ < plan_.size() && proof_.refusal.empty(); ++task_)
        if (plan_.task(task_).is_in(iteration_)) do_task();
      if ((iteration_ + 1) % cycle == 0 && proof_.refusal.empty()) check_end();
    }
    return proof_;
  }

 private:
  Held& held(int rank, int part) { return held_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(part)]; }
  bool owns(int rank, int part) const { return part % shards_.size_among(ranks_) == shards_.place(rank, ranks_); }
  /// The symbol of what a pass of this task makes.
  int sample() const { return iteration_ * plan_.micro_batches + plan_.task(task_).micro_batch; }
  bool is_of_task(int part) const {
    const int unit = plan_.task(task_).unit;
    return unit == Task::kWhole || part / ranks_ == unit;
  }
  /// Calls `use(rank, part)` for the parts that the task is of.
  template <class Use>
  void for_all(Use use) {
    for (int rank = 0; rank < ranks_; ++rank)
      for (int part = 0; part < parts_; ++part)
        if (is_of_task(part)) use(rank, part);
  }
  /// Parameters are left with their owners alone.
  void free_all() {
    for (int rank = 0; rank < ranks_; ++rank)
      for (int part = 0; part < parts_; ++part) held(rank, part).there = owns(rank, part);
  }
  void refuse(const std::string& why) {
    if (proof_.refusal.empty()) proof_.refusal = fmt::format("{} {}", name_of(plan_, task_), why);
  }

  void do_task() {
    switch (plan_.task(task_).kind) {
      case TaskKind::forward:
        for_all([&](int rank, int part) { note_staleness(held(rank, part).parameters); });
        return use_parameters();
      case TaskKind::backward:
        for_all([&](int rank, int part) { make(held(rank, part), rank); });
        return use_parameters();
      case TaskKind::apply:
        for_all([&](int rank, int part) {
          if (!plan_.task(task_).own_part || owns(rank, part)) apply(rank, held(rank, part));
        });
        if (sharded_) free_all();
        return;
      case TaskKind::delta:
        return for_all([&](int rank, int part) { take_delta(held(rank, part)); });
      case TaskKind::outer:
        return for_all([&](int rank, int part) { apply_outer(rank, held(rank, part)); });
      case TaskKind::collective:
        for (int part = 0; part < parts_; ++part)
          if (is_of_task(part)) exchange(part);
    }
  }

  /// A pass reads the parameters of its unit, and frees them where it was the last that they were gathered for.
  void use_parameters() {
    for_all([&](int rank, int part) {
      if (!held(rank, part).there) refuse(fmt::format("reads parameters that rank {} has freed", rank));
      if (freed_after_pass_.contains(part)) held(rank, part).there = owns(rank, part);
    });
  }

  void make(Held& mine, int rank) {
    const bool later = plan_.task(task_).micro_batch > 0 && mine.defined;
    mine.reduced = later ? std::move(mine.gradients) : Sum();
    mine.gradients = {{{rank, sample()}, 1.0}};
    mine.defined = true;
  }

  void exchange(int part) {
    const Task& task = plan_.task(task_);
    if (task.among == Among::servers) return exchange_with_servers(part);
    if (task.among != Among::all) return average_with_some(part);
    if (task.carried == Carried::deltas) return average_deltas(part);
    task.carried == Carried::gradients ? exchange_gradients(part) : exchange_parameters(part);
  }

  /// One rank after the other, which is one of the orders that are possible; `bound` alone limits the others.
  void exchange_with_servers(int part) {
    Sum& server = servers_[static_cast<std::size_t>(part)];
    for (int rank = 0; rank < ranks_; ++rank) {
      Held& mine = held(rank, part);
      if (!mine.defined) return refuse(fmt::format("sends gradients that rank {} lacks", rank));
      apply_to(server, mine.gradients);
      mine.defined = false;
      mine.parameters = server;
    }
    proof_.facts.staleness = plan_.task(task_).bound;
  }

  void average_with_some(int part) {
    const bool circle = plan_.task(task_).among == Among::neighbours;
    for (int rank = 0; rank < ranks_; ++rank) {
      std::vector<int> with{rank};
      if (circle) with.insert(with.end(), {(rank + 1) % ranks_, (rank + ranks_ - 1) % ranks_});
      // Pairs of neighbours stand for pairs that are drawn; of an odd number one is alone.
      const int partner = (rank + iteration_) % 2 == 0 ? rank + 1 : rank - 1;
      if (!circle && partner >= 0 && partner < ranks_) with.push_back(partner);
      Sum mean;
      for (const int other : with) add(mean, held(other, part).parameters, 1.0 / static_cast<double>(with.size()));
      held(rank, part).aside = std::move(mean);
    }
    proof_.facts.staleness.reset();
  }

  void note_staleness(const Sum& parameters) {
    if (!in_lockstep(plan_)) return;
    int unseen = 0;
    while (unseen < iteration_ && !has_all_of(parameters, iteration_ - 1 - unseen)) ++unseen;
    proof_.facts.staleness = std::max(*proof_.facts.staleness, unseen);
  }
  bool has_all_of(const Sum& parameters, int iteration) const {
    for (int rank = 0; rank < ranks_; ++rank)
      for (int sample = first_sample(iteration); sample < first_sample(iteration + 1); ++sample)
        if (!parameters.contains({rank, sample})) return false;
    return true;
  }

  int first_sample(int iteration) const { return iteration * plan_.micro_batches; }

  void apply(int rank, Held& mine) {
    if (!mine.defined) return refuse(fmt::format("reads gradients that are not there on rank {}", rank));
    if (mine.aside) mine.parameters = *std::exchange(mine.aside, std::nullopt);
    apply_to(mine.parameters, mine.gradients, applies_sums(plan_, task_, iteration_) ? 1.0 / ranks_ : 1);
  }
  void apply_to(Sum& parameters, const Sum& gradients, double weight = 1) {
    for (const auto& [gradient, share] : gradients)
      if (parameters.contains(gradient))
        return refuse(fmt::format("applies the gradient of rank {} in iteration {} a second time", gradient.first,
                                  gradient.second / plan_.micro_batches));
    add(parameters, gradients, weight);
  }

  static void take_delta(Held& mine) {
    mine.gradients = mine.parameters;
    for (const auto& [gradient, share] : mine.original) mine.gradients.erase(gradient);
    mine.defined = true;
  }
  void apply_outer(int rank, Held& mine) {
    if (!mine.defined) return refuse(fmt::format("reads deltas that are not there on rank {}", rank));
    apply_to(mine.original, mine.gradients);
    mine.parameters = mine.original;
  }
  void average_deltas(int part) {
    Sum mean;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (!held(rank, part).defined) return refuse(fmt::format("sends deltas that rank {} lacks", rank));
      add(mean, held(rank, part).gradients, 1.0 / ranks_);
    }
    for (int rank = 0; rank < ranks_; ++rank) held(rank, part).gradients = mean;
  }

  /// The groups of the task, in each of which it is done.
  std::vector<std::vector<Rank>> groups() const { return plan_.task(task_).groups.members(ranks_); }

  void exchange_gradients(int part) {
    const Task& task = plan_.task(task_);
    for (const std::vector<Rank>& group : groups())
      if (task.collective != CollectiveKind::all_reduce || !task.own_part || owns(group.front(), part))
        exchange_gradients(part, group);
  }
  void exchange_gradients(int part, const std::vector<Rank>& group) {
    const CollectiveKind kind = plan_.task(task_).collective;
    Sum sum;
    for (const Rank rank : group) {
      const bool needed = reduces(kind) || is_source(rank, part);
      if (needed && !held(rank, part).defined) return refuse(fmt::format("sends gradients that rank {} lacks", rank));
      if (needed) add(sum, held(rank, part).gradients);
    }
    if (std::ranges::any_of(sum, [](const auto& each) { return each.second > 1 + kRounding; }))
      return refuse("adds up what is a sum already");
    for (const Rank rank : group) {
      held(rank, part).defined = kind != CollectiveKind::reduce_scatter || owns(rank, part);
      held(rank, part).gradients = sum;
      add(held(rank, part).gradients, std::exchange(held(rank, part).reduced, {}));
    }
  }

  void exchange_parameters(int part) {
    const CollectiveKind kind = plan_.task(task_).collective;
    if (kind == CollectiveKind::reduce_scatter) return refuse("leaves parameters undefined");
    for (const std::vector<Rank>& group : groups()) {
      Sum next;
      const double share = kind == CollectiveKind::all_reduce ? 1.0 / static_cast<double>(group.size()) : 1;
      for (const Rank rank : group)
        if (kind == CollectiveKind::all_reduce || is_source(rank, part)) add(next, held(rank, part).parameters, share);
      for (const Rank rank : group) {
        held(rank, part).parameters = next;
        held(rank, part).there = true;
      }
    }
    if (plan_.task(task_).frees)
      freed_after_pass_.insert(part);
    else
      freed_after_pass_.erase(part);
  }

  /// Whether all get a rank's data of a part.
  bool is_source(Rank rank, int part) const {
    return plan_.task(task_).collective == CollectiveKind::broadcast ? plan_.task(task_).groups.place(rank, ranks_) == 0
                                                                     : owns(rank, part);
  }

  /// All ranks have the same parameters, or each its own part; or the servers have all, or the mean over ranks has.
  void check_end() {
    if (!in_lockstep(plan_)) return check_shared_end();
    const auto check = [&](int rank, int part) {
      if (sharded_ && !owns(rank, part)) return;
      for (int sample = first_of_cycle(); sample < first_sample(iteration_ + 1); ++sample)
        for (int from = 0; from < ranks_; ++from)
          if (proof_.refusal.empty()) check_gradient(held(rank, part).parameters, rank, {from, sample});
      if (proof_.refusal.empty() && !same(held(rank, part).parameters, held(0, 0).parameters))
        proof_.refusal = fmt::format("rank {} ends with other parameters than rank 0", rank);
    };
    for (int rank = 0; rank < ranks_; ++rank)
      for (int part = 0; part < parts_; ++part) check(rank, part);
  }

  int first_of_cycle() const { return first_sample(iteration_ + 1 - plan_.cycle()); }

  void check_shared_end() {
    for (int part = 0; part < parts_; ++part) {
      Sum all = servers_[static_cast<std::size_t>(part)];
      if (all.empty())
        for (int rank = 0; rank < ranks_; ++rank) {
          if (held(rank, part).aside)
            refuse_end(fmt::format("no task takes the mean that lies aside on rank {}", rank));
          add(all, held(rank, part).parameters);
        }
      for (int from = 0; from < ranks_; ++from)
        for (int sample = first_of_cycle(); sample < first_sample(iteration_ + 1); ++sample)
          if (proof_.refusal.empty()) check_gradient(all, 0, {from, sample});
    }
  }
  void refuse_end(std::string why) {
    if (proof_.refusal.empty()) proof_.refusal = std::move(why);
  }

  void check_gradient(const Sum& parameters, int rank, const std::pair<int, int>& gradient) {
    const auto found = parameters.find(gradient);
    if (found == parameters.end()) {
      proof_.refusal = fmt::format("no task brings the gradient of rank {} in iteration {} to rank {}", gradient.first,
                                   gradient.second / plan_.micro_batches, rank);
      return;
    }
    const double weight = parameters.begin()->second;
    if (std::abs(found->second - weight) > kRounding)
      proof_.refusal =
          fmt::format("the gradient of rank {} in iteration {} counts {:.3g} times on rank {}, others {:.3g}",
                      gradient.first, gradient.second / plan_.micro_batches, found->second, rank, weight);
  }

  const StepPlan& plan_;
  int ranks_;
  int parts_;                            ///< of all units
  bool sharded_;                         ///< parameters
  RankGroups shards_;                    ///< among which parts are shared out
  std::vector<std::vector<Held>> held_;  ///< by rank and part
  std::vector<Sum> servers_;             ///< what they hold, by part
  std::set<int> freed_after_pass_;       ///< parts that the next pass frees
  int iteration_ = 0, task_ = 0;
  PlanProof proof_;
};

}  // namespace

PlanProof prove_plan(const StepPlan& plan, int groups) {
  std::string refusal = refuse_edges(plan);
  if (refusal.empty()) refusal = refuse_races(plan);
  if (!refusal.empty()) return {.refusal = refusal, .facts = {}};
  return Walk(plan, groups * least_ranks(plan)).run();
}

}  // namespace hbench
