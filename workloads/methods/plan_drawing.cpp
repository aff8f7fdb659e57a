#include "workloads/methods/plan_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"

namespace hbench {
namespace {

/// Columns of a line's name, and how far into a task the first of its tensors is done.
constexpr int kName = 9, kFirstTensor = 4;

struct Box {
  int begin = 0, end = 0;  ///< columns
};

std::string caption(const Task& task) {
  if (task.computes()) return std::string(to_string(task.kind));
  return fmt::format("{} {}", to_string(task.collective), to_string(task.carried));
}

std::vector<Box> placed(const StepPlan& plan) {
  std::vector<Box> boxes;
  int stream = 0;
  for (const Task& task : plan.tasks) {
    Box box{.begin = task.computes() ? stream : 0, .end = 0};
    for (const After& after : task.after) {
      const Box& before = boxes[static_cast<std::size_t>(after.task)];
      box.begin = std::max(box.begin, after.by_tensor ? before.begin + kFirstTensor : before.end);
    }
    // A backward pass takes about twice as long as a forward pass, and ends before what it feeds.
    const int width = static_cast<int>(caption(task).size()) + (task.kind == TaskKind::backward ? 8 : 2);
    box.end = box.begin + width;
    for (const After& after : task.after)
      box.end = std::max(box.end, boxes[static_cast<std::size_t>(after.task)].end + (task.computes() ? 0 : 2));
    if (task.computes()) stream = box.end;
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

}  // namespace

std::string draw(const StepPlan& plan) {
  const std::vector<Box> boxes = placed(plan);
  std::string compute = fmt::format("{:{}}", "compute", kName), collectives, notes;
  for (int i = 0; i < plan.size(); ++i) {
    const Task& task = plan.task(i);
    const Box& box = boxes[static_cast<std::size_t>(i)];
    if (task.computes()) {
      put(compute, box, caption(task));
      if (task.own_part) notes += "Each rank applies its own part of the parameters.\n";
      continue;
    }
    std::string line = fmt::format("{:{}}", collectives.empty() ? "network" : "", kName);
    put(line, box, caption(task));
    collectives += line + "\n";
    if (task.every > 1)
      notes += fmt::format("The {} of {} is a part of one iteration in {}.\n", to_string(task.collective),
                           to_string(task.carried), task.every);
  }
  return compute + "\n" + collectives + notes;
}

}  // namespace hbench
