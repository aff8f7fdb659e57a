#include "workloads/simulation/method_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "collectives/algorithms/algorithm.hpp"
#include "workloads/simulation/pipeline.hpp"

namespace hbench {
namespace {

/// How far into a task the first of its tensors is done, in columns.
constexpr int kFirstTensor = 4;

using Box = Lanes::Box;

/// Of a unit's task, which has little room.
std::string_view short_of(const Task& task) {
  switch (task.kind) {
    case TaskKind::forward:
      return "F";
    case TaskKind::backward:
      return "B";
    case TaskKind::apply:
    case TaskKind::delta:
    case TaskKind::outer:
      return "A";
    case TaskKind::collective:
      return task.collective == CollectiveKind::all_gather   ? "AG"
             : task.collective == CollectiveKind::all_reduce ? "AR"
                                                             : "RS";
  }
  return "";
}

/// What a collective carries: where the plan has some travel as it is whatever compressor is named, the others are
/// coded.
std::string carried_of(const StepPlan& plan, const Task& task) {
  const bool some_verbatim = std::ranges::any_of(plan.tasks, &Task::verbatim);
  return fmt::format("{}{}", some_verbatim && task.coded() ? "coded " : "", to_string(task.carried));
}

std::string caption(const StepPlan& plan, const Task& task) {
  if (task.unit != Task::kWhole && passes_by_unit(plan)) return fmt::format("{}{}", short_of(task), task.unit);
  if (task.computes()) return std::string(to_string(task.kind));
  if (task.among == Among::servers) return "push gradients, pull parameters";
  if (task.among != Among::all) return fmt::format("average with {}", to_string(task.among));
  return fmt::format("{} {}", to_string(task.collective), carried_of(plan, task));
}

std::vector<Box> placed(const StepPlan& plan) {
  std::vector<Box> boxes;
  int stream = 0;
  std::map<CollectiveKind, int> lines;  // of units: the end of what is on a line
  const bool by_unit = passes_by_unit(plan);
  for (const Task& task : plan.tasks) {
    Box box{.begin = task.computes() ? stream : 0, .text = caption(plan, task)};
    for (const After& after : task.after) {
      const Box& before = boxes[static_cast<std::size_t>(after.task)];
      box.begin = std::max(box.begin, after.by_tensor ? before.begin + kFirstTensor : before.end);
    }
    const bool of_unit = by_unit && task.unit != Task::kWhole, shares_line = of_unit && !task.computes();
    if (shares_line) box.begin = std::max(box.begin, lines[task.collective]);
    // A backward pass takes about twice as long as a forward pass, and ends before what it feeds.
    const int longer = task.kind == TaskKind::backward ? (of_unit ? 2 : 6) : 0;
    box.end = box.begin + static_cast<int>(box.text.size()) + 2 + longer;
    for (const After& after : task.after)
      if (!of_unit)
        box.end = std::max(box.end, boxes[static_cast<std::size_t>(after.task)].end + (task.computes() ? 0 : 2));
    if (task.computes()) stream = box.end;
    if (shares_line) lines[task.collective] = box.end;
    boxes.push_back(box);
  }
  return boxes;
}

/// What the boxes of a task do not say.
void add_notes(const StepPlan& plan, const Task& task, std::vector<std::string>& notes) {
  if (task.computes() && task.own_part) notes.emplace_back("Each rank applies its own part of the parameters.");
  if (task.computes()) return;
  if (task.among == Among::servers)
    notes.push_back(
        task.bound ? fmt::format("Servers answer once they have all gradients of {} iterations before.", *task.bound)
                   : "Servers apply gradients as they come: no rank waits for another.");
  const auto what = fmt::format("The {} of {} is a part of", to_string(task.collective), carried_of(plan, task));
  if (task.every > 1)
    notes.push_back(fmt::format("{} one iteration in {}{}.", what, task.every,
                                task.from > 0 ? fmt::format(", after {}", task.from) : ""));
  else if (task.from > 0)
    notes.push_back(fmt::format("{} all iterations after {}.", what, task.from));
  if (task.until != Task::kNever) notes.push_back(fmt::format("{} the first {} iterations.", what, task.until));
}

void explain_units(const StepPlan& plan, std::vector<std::string>& notes) {
  if (!passes_by_unit(plan)) return;
  notes.insert(notes.end(), {"F, B: forward and backward pass of a unit of the model, from 0; AG: all-gather",
                             "of its parameters; RS: reduce-scatter of its gradients."});
  const RankGroups shards = sharded(plan).groups;
  if (shards.all()) return;
  notes.push_back(
      fmt::format("AG and RS within groups of {} neighbouring ranks; AR: all-reduce of a rank's", shards.size));
  notes.emplace_back("part with the ranks of the other groups that have the same part.");
}

void explain_fragments(const StepPlan& plan, std::vector<std::string>& notes) {
  if (plan.units.empty() || passes_by_unit(plan)) return;
  if (plan.units.size() > 1)
    notes.insert(notes.end(), {fmt::format("Of {} fragments of the model one is exchanged at a time, by turns: the",
                                           plan.units.size()),
                               "picture is of the first."});
  const auto lasting = std::ranges::find_if(plan.tasks, [](const Task& task) { return task.lag > 0; });
  if (lasting != plan.tasks.end())
    notes.push_back(fmt::format("It ends {} iterations later: passes go on beside it.", lasting->lag));
  if (plan.outer && plan.outer->own_share > 0)
    notes.push_back(fmt::format("Then {:g} of a rank's parameters are its own, and the rest is what all agree on.",
                                plan.outer->own_share));
}

}  // namespace

Lanes drawn(const StepPlan& plan) {
  Lanes lanes{.rows = {{.name = "compute"}}};
  explain_units(plan, lanes.notes);
  const bool by_unit = passes_by_unit(plan);
  std::map<CollectiveKind, std::size_t> rows_of_units;  // their collectives share one of each kind
  const std::vector<Box> boxes = placed(plan);
  for (int i = 0; i < plan.size(); ++i) {
    const Task& task = plan.task(i);
    if (!by_unit && task.unit > 0) continue;  // fragments are alike
    add_notes(plan, task, lanes.notes);
    std::size_t row = 0;
    if (!task.computes()) {
      const bool of_unit = by_unit && task.unit != Task::kWhole;
      const auto shared = rows_of_units.find(task.collective);
      row = of_unit && shared != rows_of_units.end() ? shared->second : lanes.rows.size();
      if (row == lanes.rows.size()) lanes.rows.push_back({.name = row == 1 ? "network" : ""});
      if (of_unit) rows_of_units[task.collective] = row;
    }
    lanes.rows[row].boxes.push_back(boxes[static_cast<std::size_t>(i)]);
  }
  explain_fragments(plan, lanes.notes);
  return lanes;
}

std::vector<Lanes> drawn(const MethodChoice& method) {
  std::vector<Lanes> pictures;
  const auto add = [&](Lanes picture, std::string_view title) {
    picture.title = fmt::format("{}: {}", method.text(), title);
    pictures.push_back(std::move(picture));
  };
  if (!method.division.none()) add(drawn(method.division), "micro-batches through the stages");
  add(drawn(method.plan(true)), method.method->summary);
  return pictures;
}

}  // namespace hbench
