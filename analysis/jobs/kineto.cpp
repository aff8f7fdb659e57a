/// Traces of PyTorch's profiler: Kineto's of torch 1.8 and newer (an object with `traceEvents`), and the plain list of
/// a PyTorch that was built without Kineto.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/jobs/job_format.hpp"
#include "analysis/jobs/json_elements.hpp"
#include "analysis/jobs/kineto_step.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using Events = KinetoEvents;

/// Steps as the profiler marks them, each at most until the next one begins.
std::vector<StepWindow> marked_windows(const Events& events) {
  std::vector<StepWindow> windows;
  for (const Events::Mark& mark : events.steps) {
    if (!windows.empty() && windows.back().name == mark.name) continue;
    if (!windows.empty()) windows.back().end = std::min(windows.back().end, mark.begin);
    windows.push_back({mark.name, mark.begin, mark.end});
  }
  return windows;
}

/// From the end of one update of the parameters to that of the next. Of several optimizers the last one ends a step.
std::vector<StepWindow> windows_by_optimizer(const Events& events) {
  std::vector<StepWindow> windows;
  double end = events.first;
  for (const Events::Mark& call : events.optimizers) {
    if (call.name != events.optimizers.back().name || call.begin < end) continue;
    windows.push_back({fmt::format("step {}", windows.size() + 1), end, call.end});
    end = call.end;
  }
  // The first one may have begun before the recording.
  if (windows.size() > 1) windows.erase(windows.begin());
  return windows;
}

/// What there is to know of the backward passes of all steps.
void note_passes(Recording& recording, const std::vector<BackwardPass>& passes) {
  int accumulated = 0;
  for (const BackwardPass& pass : passes) accumulated = std::max(accumulated, pass.accumulated);
  if (accumulated > 0)
    recording.unknown.push_back(
        fmt::format("A step has {} backward passes, whose gradients are added up: all before the last one counts as "
                    "forward, and --batch is the samples of all of them.",
                    accumulated + 1));
  if (std::ranges::any_of(passes, &BackwardPass::repeats))
    recording.unknown.push_back(
        "A step has several backward passes, and each sends the same gradients: each counts as a part of the model, "
        "which looks larger than it is. With DDP's no_sync() only the last one sends them.");
}

Recording recording_of(const KinetoTrace& trace) {
  const Events& events = trace.events;
  Recording recording = events.facts;
  recording.sharded = events.sharded;
  std::vector<StepWindow> windows = marked_windows(events);
  const bool marked = !windows.empty();
  if (!marked) windows = windows_by_optimizer(events);
  if (!marked && windows.size() == 1 && windows.front().begin == events.first)
    recording.unknown.push_back(
        "The file marks no step, and the optimizer ran once: from where the recording begins to the optimizer's end "
        "counts as one. With profiler.step() after each step, and some of them, it is known.");
  std::vector<BackwardPass> passes;
  for (const StepWindow& window : windows) {
    passes.push_back(last_pass(trace, window));
    recording.steps.push_back(read_step(trace, window, passes.back()));
  }
  note_passes(recording, passes);
  if (!events.complete)
    recording.unknown.push_back("the file ends before its list of events does: what came after is not known");
  return recording;
}

bool recognises(std::string_view head) {
  if (head.find("\"NEGOTIATE_") != head.npos) return false;  // a timeline of Horovod that a viewer has saved
  if (first_mark(head) == '{')
    return head.find("\"traceEvents\"") != head.npos || head.find("\"schemaVersion\"") != head.npos ||
           head.find("\"deviceProperties\"") != head.npos;
  // The list of a PyTorch without Kineto: of Chrome's events, and of PyTorch's operators.
  return first_mark(head) == '[' && head.find("\"ph\"") != head.npos &&
         (head.find("aten::") != head.npos || head.find("ProfilerStep#") != head.npos);
}

Error no_step(const Events& events) {
  const std::string& file = events.facts.file;
  if (!events.of_pytorch && !events.another.empty())
    return {ExitCode::usage,
            fmt::format("{}: it is a trace of another program, with events such as '{}' and none of PyTorch's", file,
                        events.another),
            "record some steps with torch.profiler, or the workload itself with hbench_recorder.py"};
  return {
      ExitCode::usage,
      fmt::format(
          "{}: it marks no step, and has no optimizer{}{}", file,
          events.tasks.empty() ? " and no backward pass: nothing was trained while it was recorded" : "",
          events.untimed > 0 ? fmt::format("; the times of {} are no numbers", counted(events.untimed, "event")) : ""),
      "call profiler.step() after each step (torch.profiler.profile with a schedule), and record some steps"};
}

std::vector<Recording> read(const std::string& file_name) {
  Events events = read_kineto_events(file_name);
  if (events.steps.empty() && events.optimizers.empty()) throw no_step(events);
  return {recording_of(KinetoTrace(std::move(events)))};
}

}  // namespace

extern const JobFormat kKinetoFormat;
constinit const JobFormat kKinetoFormat{.name = "kineto",
                                        .summary = "a trace of torch.profiler (Chrome's format), packed or not",
                                        .example = "torch.profiler.profile(...).export_chrome_trace(\"trace.json.gz\")",
                                        .recognises = recognises,
                                        .read = read};

}  // namespace hbench
