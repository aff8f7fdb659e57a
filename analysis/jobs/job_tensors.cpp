#include "analysis/jobs/job_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using List = decltype(JobTensors::list);

/// Whether all sizes are known, there are as many tensors as gradients, and those of each group add up to its size.
bool fits(const List& tensors, std::size_t gradients, const std::vector<TensorGroup>& groups) {
  if (tensors.empty() || tensors.size() != gradients) return false;
  if (std::ranges::any_of(tensors, [](const auto& tensor) { return tensor.second < 1; })) return false;
  auto next = tensors.begin();
  for (const TensorGroup& group : groups) {
    if (group.tensors < 1 || tensors.end() - next < group.tensors) return false;
    std::int64_t sum = 0;
    for (const auto end = next + group.tensors; next != end; ++next) sum += next->second;
    if (group.elements > 0 && sum != group.elements) return false;
  }
  return groups.empty() || next == tensors.end();
}

List list_of(const Trace& trace) {
  List list;
  for (const GradientEvent& gradient : trace.timeline.gradients) list.emplace_back(gradient.tensor, gradient.elements);
  return list;
}

[[noreturn]] void refuse(const Trace& trace, std::size_t tensors, std::size_t gradients) {
  throw Error(
      ExitCode::usage,
      fmt::format("{} has {}, the recording {}", trace.name, counted(static_cast<std::int64_t>(tensors), "tensor"),
                  counted(static_cast<std::int64_t>(gradients), "gradient")),
      tensors == gradients ? "its buckets would have other sizes: it is another model"
                           : "it is another model; record with record_shapes=True");
}

JobTensors known_tensors(std::size_t gradients, const std::vector<TensorGroup>& groups, const TensorSources& sources) {
  // Without the sizes of buckets nothing but their number would speak for a timeline.
  const bool sure =
      !groups.empty() && std::ranges::all_of(groups, [](const TensorGroup& group) { return group.elements > 0; });
  for (const Trace& trace : sources.known) {
    if (sources.asked.empty() ? !sure : trace.name != sources.asked) continue;
    List list = list_of(trace);
    if (fits(list, gradients, groups)) return {.list = std::move(list), .known_as = trace.name};
    if (!sources.asked.empty()) refuse(trace, list.size(), gradients);
  }
  return {};
}

}  // namespace

JobTensors job_tensors(const RecordedStep& step, const std::vector<TensorGroup>& groups, const TensorSources& sources) {
  const std::size_t gradients = step.gradients.size();
  JobTensors recorded;
  for (const RecordedGradient& gradient : step.gradients)
    recorded.list.emplace_back(gradient.tensor, gradient.elements);
  if (fits(recorded.list, gradients, groups)) {
    if (sources.asked.empty()) return recorded;
    throw Error(ExitCode::usage, "the recording has the sizes of its tensors",
                fmt::format("leave --tensors {} out: what was recorded counts", sources.asked));
  }
  JobTensors known = known_tensors(gradients, groups, sources);
  // The recorder's own names are those that a person knows.
  for (std::size_t i = 0; i < known.list.size(); ++i)
    if (!step.gradients[i].tensor.empty()) known.list[i].first = step.gradients[i].tensor;
  return known;
}

}  // namespace hbench
