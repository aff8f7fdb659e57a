#include "analysis/jobs/job_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using List = decltype(JobTensors::list);

/// Whether all sizes are known, there are as many tensors as gradients, and those of each bucket add up to its size.
bool fits(const List& tensors, std::size_t gradients, const std::vector<JobBucket>& buckets) {
  if (tensors.empty() || tensors.size() != gradients) return false;
  if (std::ranges::any_of(tensors, [](const auto& tensor) { return tensor.second < 1; })) return false;
  auto next = tensors.begin();
  for (const JobBucket& bucket : buckets) {
    if (bucket.tensors < 1 || tensors.end() - next < bucket.tensors) return false;
    std::int64_t sum = 0;
    for (const auto end = next + bucket.tensors; next != end; ++next) sum += next->second;
    if (bucket.elements > 0 && sum != bucket.elements) return false;
  }
  return buckets.empty() || next == tensors.end();
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

JobTensors known_tensors(const Job& job, std::size_t gradients, const JobRequest& request) {
  // Without the sizes of buckets nothing but their number would speak for a timeline.
  const bool sure = !job.buckets.empty() &&
                    std::ranges::all_of(job.buckets, [](const JobBucket& bucket) { return bucket.elements > 0; });
  for (const Trace& trace : request.known) {
    if (request.tensors.empty() ? !sure : trace.name != request.tensors) continue;
    List list = list_of(trace);
    if (fits(list, gradients, job.buckets)) return {.list = std::move(list), .known_as = trace.name};
    if (!request.tensors.empty()) refuse(trace, list.size(), gradients);
  }
  return {};
}

}  // namespace

JobTensors job_tensors(const Job& job, const RecordedStep& step, const std::vector<Recording>& sizes,
                       const JobRequest& request) {
  const std::size_t gradients = step.gradients.size();
  JobTensors recorded;
  for (const RecordedGradient& gradient : step.gradients)
    recorded.list.emplace_back(gradient.tensor, gradient.elements);
  if (fits(recorded.list, gradients, job.buckets)) return recorded;
  for (const Recording& file : sizes) {
    JobTensors given;
    for (const std::int64_t elements : file.gradient_elements) given.list.emplace_back("", elements);
    if (fits(given.list, gradients, job.buckets)) return given;
  }
  JobTensors known = known_tensors(job, gradients, request);
  // The recorder's own names are those that a person knows.
  for (std::size_t i = 0; i < known.list.size(); ++i)
    if (!step.gradients[i].tensor.empty()) known.list[i].first = step.gradients[i].tensor;
  return known;
}

}  // namespace hbench
