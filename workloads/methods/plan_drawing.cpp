#include "workloads/methods/plan_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"

namespace hbench {
namespace {

/// Columns of a line's name, and how far into a task the first of its tensors is done.
constexpr int kName = 9, kFirstTensor = 4;

struct Box {
  int begin = 0, end = 0;  ///< columns
};

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

std::string caption(const Task& task) {
  if (task.unit != Task::kWhole) return fmt::format("{}{}", short_of(task), task.unit);
  if (task.computes()) return std::string(to_string(task.kind));
  if (task.among == Among::servers) return "push gradients, pull parameters";
  if (task.among != Among::all) return fmt::format("average with {}", to_string(task.among));
  return fmt::format("{} {}", to_string(task.collective), to_string(task.carried));
}

std::vector<Box> placed(const StepPlan& plan) {
  std::vector<Box> boxes;
  int stream = 0;
  std::map<CollectiveKind, int> lines;  // of units: the end of what is on a line
  for (const Task& task : plan.tasks) {
    Box box{.begin = task.computes() ? stream : 0, .end = 0};
    for (const After& after : task.after) {
      const Box& before = boxes[static_cast<std::size_t>(after.task)];
      box.begin = std::max(box.begin, after.by_tensor ? before.begin + kFirstTensor : before.end);
    }
    const bool of_unit = task.unit != Task::kWhole, shares_line = of_unit && !task.computes();
    if (shares_line) box.begin = std::max(box.begin, lines[task.collective]);
    // A backward pass takes about twice as long as a forward pass, and ends before what it feeds.
    const int longer = task.kind == TaskKind::backward ? (of_unit ? 2 : 6) : 0;
    box.end = box.begin + static_cast<int>(caption(task).size()) + 2 + longer;
    for (const After& after : task.after)
      if (!of_unit)
        box.end = std::max(box.end, boxes[static_cast<std::size_t>(after.task)].end + (task.computes() ? 0 : 2));
    if (task.computes()) stream = box.end;
    if (shares_line) lines[task.collective] = box.end;
    boxes.push_back(box);
  }
  return boxes;
}

void put(std::string& line, const Box& box, const std::string& text) {
  const auto begin = static_cast<std::size_t>(kName + box.begin), end = static_cast<std::size_t>(kName + box.end);
  if (line.size() < end) line.resize(end, ' ');
  const std::string filled = fmt::format("[{:-^{}}]", text, end - begin - 2);
  line.replace(begin, end - begin, filled.substr(0, end - begin));
}

std::string servers_note(const Task& task) {
  if (!task.bound) return "Servers apply gradients as they come: no rank waits for another.\n";
  return fmt::format("Servers answer once they have all gradients of {} iterations before.\n", *task.bound);
}

}  // namespace

std::string draw(const StepPlan& plan) {
  const std::vector<Box> boxes = placed(plan);
  std::string compute = fmt::format("{:{}}", "compute", kName), notes;
  std::vector<std::pair<std::string, std::string>> lines;  // of collectives: what they are, and the drawing
  for (int i = 0; i < plan.size(); ++i) {
    const Task& task = plan.task(i);
    const Box& box = boxes[static_cast<std::size_t>(i)];
    if (task.computes()) {
      put(compute, box, caption(task));
      if (task.own_part) notes += "Each rank applies its own part of the parameters.\n";
      continue;
    }
    // Those of units share a line.
    const std::string of = task.unit == Task::kWhole ? fmt::format("{}", i) : std::string(short_of(task));
    auto line = std::ranges::find(lines, of, &std::pair<std::string, std::string>::first);
    if (line == lines.end()) {
      lines.emplace_back(of, fmt::format("{:{}}", lines.empty() ? "network" : "", kName));
      line = lines.end() - 1;
    }
    put(line->second, box, caption(task));
    if (task.among == Among::servers) notes += servers_note(task);
    if (task.every > 1)
      notes +=
          fmt::format("The {} of {} is a part of one iteration in {}{}.\n", to_string(task.collective),
                      to_string(task.carried), task.every, task.from > 0 ? fmt::format(", after {}", task.from) : "");
    if (task.until != Task::kNever)
      notes += fmt::format("The {} of {} is a part of the first {} iterations.\n", to_string(task.collective),
                           to_string(task.carried), task.until);
  }
  std::string drawing = compute + "\n";
  for (const auto& [of, line] : lines) drawing += line + "\n";
  if (!plan.units.empty())
    drawing +=
        "F, B: forward and backward pass of a unit of the model, from 0; AG: all-gather\n"
        "of its parameters; RS: reduce-scatter of its gradients.\n";
  if (const RankGroups shards = sharded(plan).groups; !shards.all())
    drawing += fmt::format(
        "AG and RS within groups of {} neighbouring ranks; AR: all-reduce of a rank's\n"
        "part with the ranks of the other groups that have the same part.\n",
        shards.size);
  return drawing + notes;
}

}  // namespace hbench
