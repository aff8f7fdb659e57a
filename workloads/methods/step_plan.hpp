#pragma once

/// One training iteration is a value.
///
/// A `StepPlan` lists what every rank does in an iteration and what each task waits for. A method (`method.hpp`) makes
/// one; the checker (`plan_check.hpp`) proves it, a drawing shows it, and `StepProgress` walks it for the simulator and
/// for the engine. None of them knows which method made it.
///
/// Semantics
///   1. All ranks have the same plan. Tasks that compute take turns on a rank's compute stream, in the order of the
///      list; collectives run beside them.
///   2. A task begins once all that it comes after is done on its own rank. A collective among all ranks ends on all of
///      them together; an exchange with servers or with some other ranks ends on its own rank alone.
///   3. A backward task makes the gradients of all tensors, one after the other; an edge `by_tensor` lets each tensor
///      go on at once, in buckets as the fusion policy puts them together. Other edges wait for whole tasks.
///   4. An iteration begins once the one before has ended: on all ranks where these meet in collectives, else on its
///      own.
///   5. An all-gather gathers what the reduce-scatter before it has scattered: it leaves in the same buckets.
///   6. A task may be of one unit of the model (a block of layers, or a fragment) alone. Its collective is one bucket.
///   7. A collective among all may be one within each of several groups of ranks at once. Own parts are shared out
///      among the ranks of the groups in which gradients are scattered and parameters gathered.
///   8. A collective may end in an iteration after the one in which it begins (`Task::lag`). It has the network for
///      itself then: no other begins before that iteration has ended.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/units.hpp"
#include "collectives/schedule/schedule.hpp"
#include "workloads/optimizers/optimizer.hpp"

namespace hbench {

enum class TaskKind : std::uint8_t {
  forward,     ///< reads parameters
  backward,    ///< reads parameters, writes gradients
  collective,  ///< an exchange of gradients or parameters
  apply,       ///< the optimizer: reads gradients, writes parameters
  delta,       ///< reads parameters, writes what they have changed by since the last outer update: deltas
  outer,       ///< the outer update (`StepPlan::outer`): reads deltas, writes parameters
};

/// What a collective carries: parameters are averaged where they are reduced, all else is added up. Deltas lie where
/// gradients do, or apart where they travel beside passes (`deltas_lie_apart`); momenta lie there, too, which a
/// backward pass leaves in their place in an iteration in which they travel: the optimizer's momentum, with the
/// gradients of this rank in it.
enum class Carried : std::uint8_t { gradients, parameters, deltas, momenta };

/// Who takes part in an exchange.
enum class Among : std::uint8_t {
  all,      ///< all ranks, in a collective
  servers,  ///< this rank and the servers of its tensors: they apply its gradients and return parameters
  /// The ranks before and after this one, in a circle: it takes the mean of their parameters and its own, all as the
  /// iteration began with them. The mean lies aside until an apply task takes it.
  neighbours,
  /// A rank drawn anew for each iteration, which answers at once, whatever it computes: both take the mean of their
  /// parameters. It lies aside, too.
  partner,
};

/// What a task waits for.
struct After {
  int task = 0;            ///< its place in the plan
  bool by_tensor = false;  ///< each tensor for itself
};

struct Task {
  TaskKind kind = TaskKind::forward;
  CollectiveKind collective = CollectiveKind::all_reduce;  ///< of a collective among all
  Among among = Among::all;                                ///< of a collective
  Carried carried = Carried::gradients;                    ///< by a collective
  RankGroups groups = {};                                  ///< of a collective among all: within each of them at once
  /// Of an apply task: every rank applies its own part of each tensor, and keeps the optimizer's state of that alone.
  /// Of a reduce-scatter: all gradients but those of the own part are freed as they leave.
  bool own_part = false;
  /// Of a reduction: it is of one part of the gradients alone, which the ranks of these groups have shared out before.
  std::optional<RankGroups> part_among = {};
  bool verbatim = false;  ///< of a collective: what it carries travels as it is, whatever the strategy's compressor
  /// Of an all-gather before a pass: the parameters of other ranks' parts are freed when the pass has used them.
  bool frees = false;
  /// The unit of the model whose layers, gradients or parameters it is of; kWhole: of all.
  int unit = kWhole;
  /// Of a pass, or a collective beside it. What a reduction brings in a later one is added to what earlier ones have
  /// left.
  int micro_batch = 0;
  /// Of an exchange with servers: they answer once they have the gradients of all ranks of `bound` iterations before;
  /// without one, at once.
  std::optional<int> bound = {};
  /// The task is a part of one iteration in `every`: of each group, the one that is `before_last` before the last.
  int every = 1, before_last = 0;
  /// Of a collective among all: it begins in one iteration, and ends in the one that is `lag` later.
  int lag = 0;
  /// Of a job's iterations, from 0, it is a part of those from `from` on and before `until`.
  int from = 0, until = kNever;
  std::vector<After> after = {};

  static constexpr int kWhole = -1, kNever = std::numeric_limits<int>::max();

  bool computes() const { return kind != TaskKind::collective; }
  /// Whether a collective carries what becomes a sum, for an optimizer to take; else means of states.
  bool adds_up() const { return carried != Carried::parameters; }
  /// Whether the strategy's compressor, which is of sums alone, codes what a collective carries.
  bool coded() const { return adds_up() && !verbatim; }
  /// Whether the task is a part of iteration `iteration`, from 0.
  bool is_in(int iteration) const {
    return iteration >= from && iteration < until && (iteration + 1 + before_last) % every == 0;
  }
  /// Whether iteration `iteration` does not end before the task.
  bool ends_in(int iteration) const { return is_in(iteration - lag); }
};

struct StepPlan {
  std::vector<Task> tasks;
  /// The tensors of each unit, by their places in the layout, in the order of the forward pass; none where no task is
  /// of one. Units of passes are blocks of layers (`passes_by_unit`), others fragments that outer updates are of.
  std::vector<std::vector<int>> units = {};
  std::optional<OuterUpdate> outer = {};  ///< where there is an outer task
  int micro_batches = 1;                  ///< of an iteration, where passes are of one each

  const Task& task(int index) const { return tasks[static_cast<std::size_t>(index)]; }
  int size() const { return static_cast<int>(tasks.size()); }
  /// Returns the tensors that a task is of, by their places in the layout. \param all tensors of the model
  std::vector<int> tensors_of(int index, int all) const;
  /// The number of iterations after which the plan starts again: the least common multiple of all `every`.
  int cycle() const;
  /// The first iteration of the first cycle that is like all after it: 0 where no task is for a time alone.
  int start() const;
};

/// The least number of ranks that the plan is for: others are multiples of it, for its groups to be whole.
int least_ranks(const StepPlan& plan);

/// Whether ranks go through the plan together: whatever they exchange, they exchange among all.
bool in_lockstep(const StepPlan& plan);

/// Whether a rank exchanges anything with these.
bool exchanges_among(const StepPlan& plan, Among among);

/// Returns the reduce-scatter before an all-gather, whose parts it brings together; -1 where there is none.
int scatter_of(const StepPlan& plan, int all_gather);

/// Whether a collective has added up gradients, or momenta, in an iteration before `apply` takes them.
bool applies_sums(const StepPlan& plan, int apply, int iteration);

/// Whether momenta travel in place of gradients, in an iteration or in any.
bool carries_momenta(const StepPlan& plan, int iteration);
bool carries_momenta(const StepPlan& plan);

/// Whether gradients are coded from an iteration of the job on alone.
bool codes_later(const StepPlan& plan);

/// Whether passes are of a unit each.
bool passes_by_unit(const StepPlan& plan);

/// Whether a collective of deltas goes on beside passes, whose gradients lie elsewhere then.
bool deltas_lie_apart(const StepPlan& plan);

/// Returns the tensors that each outer update is of: those of each unit, or all. \param tensors of the model
std::vector<std::vector<int>> fragments_of(const StepPlan& plan, int tensors);

/// Whether parameters travel, which then lie in one buffer.
bool carries_parameters(const StepPlan& plan);

/// Whether ranks take means of parameters with some others, which lie aside.
bool takes_means_with_some(const StepPlan& plan);

/// Whether ranks exchange anything in an iteration.
bool exchanges_in(const StepPlan& plan, int iteration);

/// Whether a collective ends in an iteration, in whichever it began.
bool exchange_ends_in(const StepPlan& plan, int iteration);

/// The number of iterations for which what ranks begin to exchange in an iteration goes on after it.
int exchange_lag(const StepPlan& plan, int iteration);

/// The share of iterations in which they begin to, once the plan has started.
double exchanging_share(const StepPlan& plan);

/// Whether tensors leave one by one as `task` makes them.
bool feeds_by_tensor(const StepPlan& plan, int task);

/// Whether a collective leaves parts of the sums that are this rank's to apply.
bool leaves_own_parts(const Task& collective);

/// Whether the end of the collective `task`, which begins in an iteration, is that of all that is exchanged in it:
/// nothing is after it, and it leaves no own parts to be known by.
bool ends_step(const StepPlan& plan, int task, int iteration);

/// Returns the iterations that ranks go through on their own before all of them meet, where they meet in no other ones
/// once the plan has started; else 0.
int iterations_apart(const StepPlan& plan);

/// What each rank keeps of its own part of the model alone, one of as many as a group has ranks.
struct Sharded {
  bool optimizer = false, gradients = false, parameters = false;
  RankGroups groups = {};      ///< among which parts are shared out
  bool gathered_stay = false;  ///< parameters of other ranks, from the forward to the backward pass
};
Sharded sharded(const StepPlan& plan);

/// What a task does in the words of a reader: `all-reduce of gradients`.
std::string_view to_string(TaskKind kind);
std::string_view to_string(Carried carried);
std::string_view to_string(Among among);
std::string describe(const Task& task);
/// The same with its place in the plan, as refusals name it: `task 3 (all-reduce of gradients)`.
std::string name_of(const StepPlan& plan, int task);

/// Returns the rank that `rank` averages its parameters with in an iteration, drawn among all others; the same each
/// time, in the simulator and in the engine. \pre at least two workers
Rank partner_of(Rank rank, int iteration, int workers);

/// Returns the ranks before and after `rank` in a circle of `workers`: one where there are two workers, none where
/// there is one. Means with them leave the mean over all ranks as it is.
std::vector<Rank> neighbours_of(Rank rank, int workers);

/// Returns by how many iterations a rank may be ahead of another: by one for each step of the circle between them.
inline int most_ahead(int workers) { return workers / 2; }

}  // namespace hbench
