// Traces of PyTorch's profiler: Kineto's of torch 1.8 and newer (an object with `traceEvents`), and the plain list of
// a PyTorch that was built without Kineto.
// Which events of a trace are one collective: the program's call of it, and its run on a device or a thread.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/job/job_format.hpp"
#include "analysis/job/json_elements.hpp"
#include "analysis/job/kineto_events.hpp"
#include "analysis/job/kineto_step.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using Events = KinetoEvents;
using Runs = std::vector<const Events::Exchange*>;

bool within(const Events::Interval& inner, const Events::Interval& outer) {
  return inner.thread == outer.thread && inner.begin >= outer.begin && inner.end <= outer.end;
}

/// Takes over what `other`, which stands for the same exchange, knows and `exchange` does not.
void complete(Events::Exchange& exchange, const Events::Exchange& other) {
  if (exchange.operation.empty()) exchange.operation = other.operation;
  if (exchange.type.empty()) exchange.type = other.type;
  if (exchange.group.empty()) exchange.group = other.group;
  if (exchange.group_words.empty()) exchange.group_words = other.group_words;
  if (exchange.elements == 0) exchange.elements = other.elements;
  if (exchange.ranks == 0) exchange.ranks = other.ranks;
}

/// The host records one collective three times: `c10d::`, in it `record_param_comms`, in it `nccl:`. The outermost
/// stands for all; a library's event that lies in none is the run of one, on a thread of the library's own.
void join_calls(Events& events) {
  std::ranges::stable_sort(events.calls, {}, &Events::Exchange::begin);
  std::ranges::stable_sort(events.runs, {}, &Events::Exchange::begin);
  std::vector<Events::Exchange> outermost, runs;
  std::map<std::int64_t, std::size_t> last;  // of each thread
  for (Events::Exchange& call : events.calls) {
    const auto found = last.find(call.thread);
    if (found != last.end() && within(call, outermost[found->second])) {
      complete(outermost[found->second], call);
      continue;
    }
    last[call.thread] = outermost.size();
    outermost.push_back(std::move(call));
  }
  for (Events::Exchange& run : events.runs) {
    const auto inside = [&](const Events::Exchange& call) { return run.correlation == 0 && within(run, call); };
    const auto after = std::ranges::upper_bound(outermost, run.begin, {}, &Events::Exchange::begin);
    // Calls of other threads may stand between a call and what lies in it.
    auto call = std::find_if(
        std::make_reverse_iterator(after),
        std::make_reverse_iterator(after - std::min<std::ptrdiff_t>(after - outermost.begin(), 64)), inside);
    if (call.base() != after - std::min<std::ptrdiff_t>(after - outermost.begin(), 64))
      complete(*call, run);
    else
      runs.push_back(std::move(run));
  }
  events.calls = std::move(outermost);
  events.runs = std::move(runs);
}

/// Gloo runs a reduce-scatter as an all-reduce.
bool alike(const Events::Exchange& run, const Events::Exchange& call) {
  return run.operation.empty() || call.operation.empty() || run.operation == call.operation ||
         (run.operation == "all-reduce" && call.operation == "reduce-scatter");
}

/// Gives a run to the call in which its kernel was launched; false where there is none.
bool assign(Events& events, const Events::Launch& launch, const Events::Exchange& run, Runs& run_of) {
  auto call = std::ranges::upper_bound(events.calls, launch.at, {}, &Events::Exchange::begin);
  while (call != events.calls.begin()) {
    --call;
    if (call->thread != launch.thread) continue;
    const auto index = static_cast<std::size_t>(call - events.calls.begin());
    if (call->end < launch.at || run_of[index] != nullptr) return false;
    run_of[index] = &run;
    complete(*call, run);
    return true;
  }
  return false;
}

/// By what launched their kernels; returns those that are left.
Runs assign_by_launch(Events& events, Runs& run_of) {
  std::unordered_map<std::int64_t, const Events::Launch*> launch_of;
  for (const Events::Launch& launch : events.launches)
    if (launch.correlation > 0) launch_of.emplace(launch.correlation, &launch);
  Runs open;
  for (const Events::Exchange& run : events.runs) {
    const auto launch = run.correlation > 0 ? launch_of.find(run.correlation) : launch_of.end();
    if (launch == launch_of.end() || !assign(events, *launch->second, run, run_of)) open.push_back(&run);
  }
  return open;
}

/// Drops kernels that were launched before the recording began, as the last steps of a warm-up are: the launches of
/// others are there, their own are not, and they run before all of these.
void drop_earlier(const Events& events, const Runs& run_of, Runs& open) {
  std::unordered_set<std::int64_t> launched;
  for (const Events::Launch& launch : events.launches) launched.insert(launch.correlation);
  double first = -std::numeric_limits<double>::infinity();
  for (const Events::Exchange* run : run_of)
    if (run != nullptr && launched.contains(run->correlation))
      first = std::isfinite(first) ? std::min(first, run->begin) : run->begin;
  std::erase_if(open, [&](const Events::Exchange* run) {
    return run->correlation > 0 && run->begin < first && !launched.contains(run->correlation);
  });
}

/// Steps as the profiler marks them, each at most until the next one begins.
std::vector<StepWindow> marked_windows(const Events& events) {
  std::vector<StepWindow> windows;
  for (const Events::Mark& mark : events.steps) {
    if (!windows.empty() && windows.back().name == mark.name) continue;
    if (!windows.empty()) windows.back().end = std::min(windows.back().end, mark.begin);
    windows.push_back({mark.name, mark.begin, mark.end, mark.thread});
  }
  return windows;
}

/// From the end of one update of the parameters to that of the next. Of several optimizers the last one ends a step.
std::vector<StepWindow> windows_by_optimizer(const Events& events) {
  std::vector<StepWindow> windows;
  double end = events.first;
  for (const Events::Mark& call : events.optimizers) {
    if (call.name != events.optimizers.back().name || call.begin < end) continue;
    windows.push_back({fmt::format("step {}", windows.size() + 1), end, call.end, call.thread});
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
  if (std::ranges::any_of(passes, &BackwardPass::updates))
    recording.unknown.push_back(
        "A step has several backward passes with an optimizer between them, as of several models: all from the first "
        "to the last one count as one pass.");
}

Recording recording_of(const KinetoTrace& trace) {
  const Events& events = trace.events;
  Recording recording = events.facts;
  recording.sharded = events.sharded;
  if (events.graphs && events.tasks.empty())
    recording.no_backward =
        "The step ran as a CUDA graph, which hides its backward pass: record steps without CUDA graphs.";
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

bool is_kineto(std::string_view head) {
  if (head.find("\"NEGOTIATE_") != head.npos) return false;  // a timeline of Horovod that a viewer has saved
  if (first_mark(head) == '{')
    return head.find("\"traceEvents\"") != head.npos || head.find("\"schemaVersion\"") != head.npos ||
           head.find("\"deviceProperties\"") != head.npos;
  // The list of a PyTorch without Kineto: of Chrome's events, and of PyTorch's operators.
  return first_mark(head) == '[' && head.find("\"ph\"") != head.npos &&
         (head.find("aten::") != head.npos || head.find("ProfilerStep#") != head.npos);
}

/// Nobody knows of a file that is cut off whether something was trained.
void refuse_inference(const Events& events) {
  if (!events.complete || !events.operators || !events.tasks.empty() || !events.gradients.empty() ||
      !events.optimizers.empty())
    return;
  throw Error(ExitCode::usage,
              fmt::format("{}: it is a recording of inference: no backward pass and no optimizer are in it{}",
                          events.facts.file, events.graphs ? " (or they ran as CUDA graphs, which hide them)" : ""),
              "record steps of training, without CUDA graphs");
}

Error no_step(const Events& events) {
  const std::string& file = events.facts.file;
  if (!events.of_pytorch && events.untimed == 0)
    return {ExitCode::usage,
            events.another.empty()
                ? fmt::format("{}: none of PyTorch's events is in it", file)
                : fmt::format("{}: it is a trace of another program, with events such as '{}' and none of PyTorch's",
                              file, events.another),
            "record some steps with torch.profiler; of a job without PyTorch, its exchanges with NCCL Inspector"};
  return {
      ExitCode::usage,
      fmt::format(
          "{}: it marks no step, and has no optimizer{}", file,
          events.untimed > 0 ? fmt::format("; the times of {} are no numbers", counted(events.untimed, "event")) : ""),
      "call profiler.step() after each step (torch.profiler.profile with a schedule), and record some steps"};
}

std::vector<Recording> read_kineto(const std::string& file_name) {
  Events events = read_kineto_events(file_name);
  refuse_inference(events);
  if (events.steps.empty() && events.optimizers.empty()) throw no_step(events);
  return {recording_of(KinetoTrace(std::move(events)))};
}

}  // namespace

std::vector<const KinetoEvents::Exchange*> runs_of_calls(KinetoEvents& events) {
  join_calls(events);
  Runs run_of(events.calls.size());
  Runs open = assign_by_launch(events, run_of);
  drop_earlier(events, run_of, open);
  // Else the first that began after the call and is of its kind.
  for (std::size_t i = 0; i < events.calls.size(); ++i) {
    if (run_of[i] != nullptr) continue;
    const auto run = std::ranges::find_if(open, [&](const Events::Exchange* each) {
      return each != nullptr && each->begin >= events.calls[i].begin && alike(*each, events.calls[i]);
    });
    if (run == open.end()) continue;
    run_of[i] = std::exchange(*run, nullptr);
    complete(events.calls[i], *run_of[i]);
  }
  for (const Events::Exchange* each : open) {
    if (each == nullptr) continue;
    events.calls.push_back(*each);
    run_of.push_back(each);
  }
  return run_of;
}

extern constinit const JobFormat kKinetoFormat{
    .name = "kineto",
    .summary = "a trace of torch.profiler (Chrome's format), packed or not",
    .example = "torch.profiler.profile(...).export_chrome_trace(\"trace.json.gz\")",
    .advice = {.passes = "record whole steps, with ProfilerActivity.CPU",
               .sizes = "record with record_shapes=True, or name the workload that has them by --tensors"},
    .recognises = is_kineto,
    .read = read_kineto};

}  // namespace hbench
