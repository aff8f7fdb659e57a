/// Traces of PyTorch's profiler: Kineto's of torch 1.8 and newer (an object with `traceEvents`), and the plain list of
/// a PyTorch that was built without Kineto.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>

#include "analysis/jobs/job_format.hpp"
#include "analysis/jobs/json_elements.hpp"
#include "analysis/jobs/kineto_events.hpp"
#include "analysis/jobs/kineto_exchanges.hpp"
#include "analysis/jobs/kineto_passes.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using Events = KinetoEvents;

/// A part of the host's time that is one step.
struct Window {
  std::string name;
  double begin = 0, end = 0;
};

template <class Event>
void sort_by_begin(std::vector<Event>& events) {
  std::ranges::stable_sort(events, {}, &Event::begin);
}

/// Of events in the order of their begins, those that began in the window.
template <class Event>
std::span<const Event> begun_in(const Window& window, const std::vector<Event>& events) {
  const auto first = std::ranges::lower_bound(events, window.begin, {}, &Event::begin);
  return {first, std::ranges::lower_bound(first, events.end(), window.end, {}, &Event::begin)};
}

/// Steps as the profiler marks them, each at most until the next one begins.
std::vector<Window> marked_windows(const Events& events) {
  std::vector<Window> windows;
  for (const Events::Mark& mark : events.steps) {
    if (!windows.empty() && windows.back().name == mark.name) continue;
    if (!windows.empty()) windows.back().end = std::min(windows.back().end, mark.begin);
    windows.push_back({mark.name, mark.begin, mark.end});
  }
  return windows;
}

/// From the end of one update of the parameters to that of the next. Of several optimizers the last one ends a step.
std::vector<Window> windows_by_optimizer(const Events& events) {
  std::vector<Window> windows;
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

/// Steps out of the events of one rank.
class Steps {
 public:
  explicit Steps(Events events) : events_(std::move(events)) {
    run_of_ = runs_of_calls(events_);
    sort_by_begin(events_.tasks);
    sort_by_begin(events_.gradients);
    sort_by_begin(events_.optimizers);
    std::ranges::sort(events_.launches, {}, &Events::Launch::at);
    std::ranges::sort(events_.kernels, {}, &Events::Kernel::begin);
    for (const Events::Kernel& kernel : events_.kernels)
      if (kernel.correlation > 0) kernel_of_.emplace(kernel.correlation, &kernel);
  }

  Recording recording() {
    Recording recording = events_.facts;
    recording.sharded = events_.sharded;
    sort_by_begin(events_.steps);
    std::vector<Window> windows = marked_windows(events_);
    const bool marked = !windows.empty();
    if (!marked) windows = windows_by_optimizer(events_);
    if (!marked && windows.size() == 1 && windows.front().begin == events_.first)
      recording.unknown.push_back(
          "The file marks no step, and the optimizer ran once: from where the recording begins to the optimizer's end "
          "counts as one. With profiler.step() after each step, and some of them, it is known.");
    for (const Window& window : windows) recording.steps.push_back(step(window));
    note_passes(recording);
    if (!events_.complete)
      recording.unknown.push_back("the file ends before its list of events does: what came after is not known");
    return recording;
  }

 private:
  void note_passes(Recording& recording) const {
    if (accumulated_ > 0)
      recording.unknown.push_back(
          fmt::format("A step has {} backward passes, whose gradients are added up: all before the last one counts as "
                      "forward, and --batch is the samples of all of them.",
                      accumulated_ + 1));
    if (repeats_)
      recording.unknown.push_back(
          "A step has several backward passes, and each sends the same gradients: each counts as a part of the model, "
          "which looks larger than it is. With DDP's no_sync() only the last one sends them.");
  }

  RecordedStep step(const Window& window) {
    RecordedStep step{.name = window.name, .time = Seconds(window.end - window.begin)};
    const BackwardPass pass =
        last_pass(begun_in(window, events_.tasks), begun_in(window, events_.gradients), events_.calls);
    accumulated_ = std::max(accumulated_, pass.accumulated);
    repeats_ = repeats_ || pass.repeats;
    const auto tasks = pass.tasks;
    const bool any = !tasks.empty();
    const double begin = any ? tasks.front().begin : 0;
    const std::int64_t thread = any ? tasks.front().thread : 0;
    double end = 0;
    for (const Events::Interval& task : tasks)
      if (task.thread == thread) end = std::max(end, task.end);
    gradients_ = pass.gradients;
    begin_ = begin_on_device(window);
    read_launches(thread, begin, window.end);
    if (any) {
      // Where the device is behind the host, its own first kernel is what begins the backward pass.
      const double device_begin = launches_.empty() ? begin : std::max(begin, launches_.front().kernel_begin);
      step.backward_began = since(device_begin);
      for (const Events::Gradient& gradient : gradients_)
        step.gradients.push_back({.tensor = {},
                                  .elements = gradient.elements,
                                  .ready = since(std::max(done_by(gradient.end), device_begin))});
      // Two threads of the backward pass may end gradients in another order than they began them.
      for (std::size_t i = 1; i < step.gradients.size(); ++i)
        step.gradients[i].ready = std::max(step.gradients[i].ready, step.gradients[i - 1].ready);
      step.backward_ended = since(done_by(end));
      if (!step.gradients.empty()) step.backward_ended = std::max(*step.backward_ended, step.gradients.back().ready);
    }
    read_collectives(step, window, begin, end);
    step.compute = compute_in(window);
    if (any) step.exposed = exposed(step, end);
    if (any) read_optimizer(step, window, end);
    return step;
  }

  Seconds since(double at) const { return Seconds(std::max(0.0, at - begin_)); }

  /// A host that runs ahead of its device begins a step while the device still works on the one before: then the step
  /// begins when the device is done with that.
  double begin_on_device(const Window& window) const {
    double done = window.begin;
    const auto first = std::ranges::lower_bound(events_.launches, window.begin, {}, &Events::Launch::at);
    // A kernel that runs for longer than 256 others take to be launched is none of a step's.
    for (auto launch = std::make_reverse_iterator(first); launch != events_.launches.rend(); ++launch) {
      if (std::distance(std::make_reverse_iterator(first), launch) > 256) break;
      if (const auto kernel = kernel_of_.find(launch->correlation); kernel != kernel_of_.end())
        done = std::max(done, kernel->second->end);
    }
    return done;
  }

  struct LaunchedKernel {
    double at = 0, kernel_begin = 0, last_end = 0;  ///< the latest end of this one and of all before it
  };

  /// The kernels that the backward pass's thread launched, in the order of their launches.
  void read_launches(std::int64_t thread, double begin, double end) {
    launches_.clear();
    double last = 0;
    for (auto launch = std::ranges::lower_bound(events_.launches, begin, {}, &Events::Launch::at);
         launch != events_.launches.end() && launch->at < end; ++launch) {
      const auto kernel = kernel_of_.find(launch->correlation);
      if (launch->thread != thread || kernel == kernel_of_.end()) continue;
      last = std::max(last, kernel->second->end);
      launches_.push_back({launch->at, kernel->second->begin, last});
    }
  }

  /// When all work was done that the backward pass had launched by a time of the host.
  double done_by(double host) const {
    const auto after = std::ranges::upper_bound(launches_, host, {}, &LaunchedKernel::at);
    return after == launches_.begin() ? host : std::max(host, std::prev(after)->last_end);
  }

  int gradients_before(double host) const {
    return static_cast<int>(
        std::ranges::count_if(gradients_, [&](const Events::Gradient& gradient) { return gradient.end <= host; }));
  }

  /// When the host called the optimizer after the backward pass; else the end of the step.
  double optimizer_called(const Window& window, double backward_end) const {
    for (const Events::Mark& call : begun_in(window, events_.optimizers))
      if (call.begin >= backward_end) return call.begin;
    return window.end;
  }

  void read_collectives(RecordedStep& step, const Window& window, double backward_begin, double backward_end) {
    const double optimizer = optimizer_called(window, backward_end);
    for (std::size_t i = 0; i < events_.calls.size(); ++i) {
      const Events::Exchange& call = events_.calls[i];
      if (call.begin < window.begin || call.begin >= window.end || call.operation.empty() ||
          call.operation == "barrier")
        continue;
      RecordedCollective collective{.operation = call.operation,
                                    .elements = call.elements,
                                    .type = call.type,
                                    .group = call.group,
                                    .ranks = call.ranks,
                                    .launched = since(call.begin)};
      // What is reduced and scattered later is gradients too: FSDP's last group follows in a callback of the pass.
      collective.in_backward = backward_end > backward_begin && call.begin >= backward_begin &&
                               (call.begin <= backward_end || call.operation == "reduce-scatter");
      collective.after_backward = backward_end > backward_begin && call.begin > backward_end &&
                                  call.begin < optimizer && call.operation == "all-reduce";
      if (collective.in_backward) collective.gradients_before = gradients_before(call.begin);
      if (const Events::Exchange* run = run_of_[i]; run != nullptr) {
        if (run->correlation > 0) collective.launched = since(done_by(call.begin));
        collective.began = since(run->begin);
        collective.duration = Seconds(run->end - run->begin);
      }
      step.collectives.push_back(std::move(collective));
    }
    std::ranges::stable_sort(step.collectives, {}, &RecordedCollective::launched);
  }

  /// With at least one kernel at work; absent without a device.
  std::optional<Seconds> compute_in(const Window& window) const {
    double sum = 0, until = window.begin;
    bool any = false;
    for (auto kernel = std::ranges::lower_bound(events_.kernels, window.begin, {}, &Events::Kernel::begin);
         kernel != events_.kernels.end() && kernel->begin < window.end; ++kernel) {
      any = true;
      if (kernel->end <= until) continue;
      sum += kernel->end - std::max(kernel->begin, until);
      until = kernel->end;
    }
    return any ? std::optional(Seconds(sum)) : std::nullopt;
  }

  /// How long the step waited for its gradients. Where the host launches what follows only after they have arrived, a
  /// device did not wait for them but for the host.
  Seconds exposed(const RecordedStep& step, double host_end) const {
    double arrived = 0;
    for (const RecordedCollective& collective : step.collectives)
      if (collective.in_backward && collective.duration)
        arrived = std::max(arrived, (*collective.began + *collective.duration).value);
    double from = step.backward_ended->value;
    for (auto launch = std::ranges::lower_bound(events_.launches, host_end, {}, &Events::Launch::at);
         launch != events_.launches.end(); ++launch) {
      const auto kernel = kernel_of_.find(launch->correlation);
      if (kernel == kernel_of_.end() || kernel->second->begin < arrived + begin_) continue;
      from = std::max(from, launch->at - begin_);
      break;
    }
    return Seconds(std::max(0.0, arrived - from));
  }

  /// From the first of the optimizer's kernels to the end of its last; of its calls, where they launch none.
  void read_optimizer(RecordedStep& step, const Window& window, double backward_end) const {
    double begin = 0, end = 0, device_begin = 0, device_end = 0;
    for (const Events::Mark& call : begun_in(window, events_.optimizers)) {
      if (call.begin < backward_end) continue;
      if (end == 0) begin = call.begin;
      end = std::max(end, call.end);
      for (auto launch = std::ranges::lower_bound(events_.launches, call.begin, {}, &Events::Launch::at);
           launch != events_.launches.end() && launch->at < call.end; ++launch) {
        const auto kernel = kernel_of_.find(launch->correlation);
        if (kernel == kernel_of_.end()) continue;
        device_begin = device_end == 0 ? kernel->second->begin : std::min(device_begin, kernel->second->begin);
        device_end = std::max(device_end, kernel->second->end);
      }
    }
    if (end == 0) return;
    step.optimizer_began = since(device_end > 0 ? device_begin : begin);
    step.optimizer = Seconds(device_end > 0 ? device_end - device_begin : end - begin);
  }

  Events events_;
  std::unordered_map<std::int64_t, const Events::Kernel*> kernel_of_;
  std::vector<const Events::Exchange*> run_of_;  ///< by call; null: not known
  int accumulated_ = 0;                          ///< backward passes before the last one of a step
  bool repeats_ = false;                         ///< each of them sends gradients
  // Of the step that is being read.
  double begin_ = 0;  ///< on the device
  std::span<const Events::Gradient> gradients_;
  std::vector<LaunchedKernel> launches_;
};

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
  return {Steps(std::move(events)).recording()};
}

}  // namespace

extern const JobFormat kKinetoFormat;
constinit const JobFormat kKinetoFormat{.name = "kineto",
                                        .summary = "a trace of torch.profiler (Chrome's format), packed or not",
                                        .example = "torch.profiler.profile(...).export_chrome_trace(\"trace.json.gz\")",
                                        .recognises = recognises,
                                        .read = read};

}  // namespace hbench
