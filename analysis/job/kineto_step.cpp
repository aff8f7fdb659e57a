// The backward passes of one step of a trace.

#include "analysis/job/kineto_step.hpp"

#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "analysis/job/text_source.hpp"

namespace hbench {
namespace {

using Events = KinetoEvents;

template <class Event>
void sort_by_begin(std::vector<Event>& events) {
  std::ranges::stable_sort(events, {}, &Event::begin);
}

/// Appends what begins no earlier than all before it.
void cover(std::vector<Events::Interval>& apart, double begin, double end) {
  if (apart.empty() || begin > apart.back().end)
    apart.push_back({begin, end});
  else
    apart.back().end = std::max(apart.back().end, end);
}

/// The part of a time that intervals cover, which are apart from each other and in their order.
double covered(const std::vector<Events::Interval>& apart, double begin, double end) {
  double sum = 0;
  for (auto next = std::ranges::upper_bound(apart, begin, {}, &Events::Interval::end);
       next != apart.end() && next->begin < end; ++next)
    sum += std::min(next->end, end) - std::max(next->begin, begin);
  return sum;
}

/// Launches from one time of the host to another, in their order.
std::span<const Events::Launch> launched(const Events& events, double begin, double end) {
  const auto first = std::ranges::lower_bound(events.launches, begin, {}, &Events::Launch::at);
  return {first, std::ranges::lower_bound(first, events.launches.end(), end, {}, &Events::Launch::at)};
}

/// When the device is done with what had been launched by a time of the host.
double done_on_device(const KinetoTrace& trace, double host) {
  // A kernel that runs for longer than 256 others take to be launched is none of a step's.
  constexpr std::size_t kLaunchesBefore = 257;
  const auto before = launched(trace.events, -INFINITY, host);
  double done = host;
  for (const Events::Launch& launch : before.last(std::min(before.size(), kLaunchesBefore)))
    if (const Events::Kernel* kernel = trace.kernel_of(launch)) done = std::max(done, kernel->end);
  return done;
}

/// A host that runs ahead of its device begins a step while the device still works on the one before: then the step
/// begins when the device is done with that.
double begin_on_device(const KinetoTrace& trace, const StepWindow& window) {
  if (trace.launched_before(window.begin)) return done_on_device(trace, window.begin);
  // The step before is not in the recording. On an idle device a kernel would have begun at once.
  constexpr double kAtOnce = 1e-3;
  const Events::Kernel* first = nullptr;
  double queued = 0;
  for (const Events::Launch& launch : launched(trace.events, window.begin, window.end)) {
    const Events::Kernel* kernel = trace.kernel_of(launch);
    if (kernel == nullptr || (first != nullptr && kernel->begin >= first->begin)) continue;
    first = kernel;
    queued = kernel->begin - launch.at;
  }
  return queued > kAtOnce && done_on_device(trace, window.end) > window.end ? first->begin : window.begin;
}

/// The step whose host's time is `window`. Its times count from when its device began with it.
class StepReader {
 public:
  StepReader(const KinetoTrace& trace, const StepWindow& window, const BackwardPass& pass)
      : trace_(trace),
        window_(window),
        pass_(pass),
        begin_(begin_on_device(trace, window)),
        end_(std::max(begin_, done_on_device(trace, window.end))) {
    if (!any_backward()) return;
    const Events::Task& first = pass.tasks.front();
    backward_begin_ = first.begin;
    for (const Events::Task& task : pass.tasks)
      if (task.thread == first.thread) backward_end_ = std::max(backward_end_, task.end);
    read_launches(first.thread);
  }

  RecordedStep step() const {
    RecordedStep step{.name = window_.name, .time = Seconds(end_ - begin_)};
    if (any_backward()) read_backward(step);
    read_collectives(step);
    if (const double busy = trace_.busy(begin_, end_); busy > 0) step.compute = Seconds(busy);
    if (const auto input = trace_.loading(window_.thread, window_.begin, window_.end)) step.input = Seconds(*input);
    if (any_backward()) step.exposed = exposed(step);
    if (any_backward()) read_optimizer(step);
    return step;
  }

 private:
  struct LaunchedKernel {
    double at = 0, kernel_begin = 0, last_end = 0;  ///< the latest end of this one and of all before it
  };

  bool any_backward() const { return !pass_.tasks.empty(); }
  Seconds since(double at) const { return Seconds(std::max(0.0, at - begin_)); }

  /// The kernels that the backward pass's thread launched, in the order of their launches.
  void read_launches(std::int64_t thread) {
    double last = 0;
    for (const Events::Launch& launch : launched(trace_.events, backward_begin_, window_.end)) {
      const Events::Kernel* kernel = trace_.kernel_of(launch);
      if (launch.thread != thread || kernel == nullptr) continue;
      last = std::max(last, kernel->end);
      launches_.push_back({launch.at, kernel->begin, last});
    }
  }

  /// When all work was done that the backward pass had launched by a time of the host.
  double done_by(double host) const {
    const auto after = std::ranges::upper_bound(launches_, host, {}, &LaunchedKernel::at);
    return after == launches_.begin() ? host : std::max(host, std::prev(after)->last_end);
  }

  void read_backward(RecordedStep& step) const {
    // Where the device is behind the host, its own first kernel is what begins the backward pass.
    const double device_begin =
        launches_.empty() ? backward_begin_ : std::max(backward_begin_, launches_.front().kernel_begin);
    step.backward_began = since(device_begin);
    Seconds ready(0);
    for (const Events::Gradient& gradient : pass_.gradients) {
      // Two threads of the backward pass may end gradients in another order than they began them.
      ready = std::max(ready, since(std::max(done_by(gradient.end), device_begin)));
      step.gradients.push_back({.tensor = {}, .elements = gradient.elements, .ready = ready});
    }
    step.backward_ended = std::max(since(done_by(backward_end_)), ready);
  }

  int gradients_before(double host) const {
    return static_cast<int>(
        std::ranges::count_if(pass_.gradients, [&](const auto& gradient) { return gradient.end <= host; }));
  }

  /// When the host called the optimizer after the backward pass; else the end of the step.
  double optimizer_called() const {
    for (const Events::Mark& call : begun_in(window_, trace_.events.optimizers))
      if (call.begin >= backward_end_) return call.begin;
    return window_.end;
  }

  /// `until` is when those of its kind end that began before it: what runs beside these counts once.
  RecordedCollective collective_of(const Events::Exchange& call, const Events::Exchange* run, double optimizer,
                                   double& until) const {
    RecordedCollective collective{.operation = call.operation,
                                  .elements = call.elements,
                                  .type = call.type,
                                  .group = call.group,
                                  .group_words = call.group_words,
                                  .ranks = call.ranks,
                                  .launched = since(call.begin)};
    const bool any = backward_end_ > backward_begin_;
    // What is reduced and scattered later is gradients too: FSDP's last group follows in a callback of the pass.
    collective.in_backward =
        any && call.begin >= backward_begin_ && (call.begin <= backward_end_ || call.operation == "reduce-scatter");
    collective.after_backward =
        any && call.begin > backward_end_ && call.begin < optimizer && call.operation.ends_with("reduce");
    if (collective.in_backward) collective.gradients_before = gradients_before(call.begin);
    if (run == nullptr) return collective;
    if (run->correlation > 0) collective.launched = since(done_by(call.begin));
    collective.began = since(run->begin);
    collective.duration = Seconds(run->end - run->begin);
    if (run->correlation == 0 || trace_.events.kernels.empty()) return collective;
    if (const double begin = std::max(run->begin, until); begin < run->end)
      collective.alone = Seconds(run->end - begin - trace_.busy(begin, run->end));
    until = std::max(until, run->end);
    const double held = run->end - std::max(run->begin, trace_.held_since(run->end));
    if (held > 0 && run->end < done_by(backward_end_)) collective.held = Seconds(held);
    return collective;
  }

  void read_collectives(RecordedStep& step) const {
    const double optimizer = optimizer_called();
    const std::vector<Events::Exchange>& calls = trace_.events.calls;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (calls[i].begin >= window_.begin && calls[i].begin < window_.end && !calls[i].operation.empty() &&
          calls[i].operation != "barrier")
        order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      return trace_.run_of[i] == nullptr ? calls[i].begin : trace_.run_of[i]->begin;
    });
    std::map<std::string, double> until;  // by operation
    for (const std::size_t i : order)
      step.collectives.push_back(collective_of(calls[i], trace_.run_of[i], optimizer, until[calls[i].operation]));
    std::ranges::stable_sort(step.collectives, {}, &RecordedCollective::launched);
  }

  /// How long the step waited for its gradients. Where the host launches what follows only after they have arrived, a
  /// device did not wait for them but for the host.
  Seconds exposed(const RecordedStep& step) const {
    double arrived = 0;
    for (const RecordedCollective& collective : step.collectives)
      if (collective.in_backward && collective.duration)
        arrived = std::max(arrived, (*collective.began + *collective.duration).value);
    double from = step.backward_ended->value;
    for (const Events::Launch& launch : launched(trace_.events, backward_end_, INFINITY)) {
      const Events::Kernel* kernel = trace_.kernel_of(launch);
      if (kernel == nullptr || kernel->begin < arrived + begin_) continue;
      from = std::max(from, launch.at - begin_);
      break;
    }
    return Seconds(std::max(0.0, arrived - from));
  }

  /// From the first of the optimizer's kernels to the end of its last; of its calls, where they launch none.
  void read_optimizer(RecordedStep& step) const {
    double begin = 0, end = 0, device_begin = 0, device_end = 0;
    for (const Events::Mark& call : begun_in(window_, trace_.events.optimizers)) {
      if (call.begin < backward_end_) continue;
      if (end == 0) begin = call.begin;
      end = std::max(end, call.end);
      for (const Events::Launch& launch : launched(trace_.events, call.begin, call.end)) {
        const Events::Kernel* kernel = trace_.kernel_of(launch);
        if (kernel == nullptr) continue;
        device_begin = device_end == 0 ? kernel->begin : std::min(device_begin, kernel->begin);
        device_end = std::max(device_end, kernel->end);
      }
    }
    if (end == 0) return;
    step.optimizer_began = since(device_end > 0 ? device_begin : begin);
    step.optimizer = Seconds(device_end > 0 ? device_end - device_begin : end - begin);
  }

  const KinetoTrace& trace_;
  const StepWindow& window_;
  const BackwardPass& pass_;
  double begin_, end_;                            ///< on the device
  double backward_begin_ = 0, backward_end_ = 0;  ///< on the host; 0: there is none
  std::vector<LaunchedKernel> launches_;
};

using Gradients = std::span<const Events::Gradient>;

/// When passes begin. A pass goes back through the operators of its forward pass, so that a higher number than any
/// before begins another. What runs within a task, as where activations are computed again, begins none.
std::vector<double> begins_of(std::span<const Events::Task> tasks) {
  std::vector<double> begins;
  std::int64_t highest = 0;
  double until = 0;
  for (const Events::Task& task : tasks) {
    if (task.thread != tasks.front().thread || (!begins.empty() && task.begin < until)) continue;
    until = task.end;
    if (begins.empty() || (highest > 0 && task.sequence > highest)) begins.push_back(task.begin);
    highest = std::max(highest, task.sequence);
  }
  return begins;
}

template <class Event>
std::span<const Event> from(double begin, std::span<const Event> events) {
  return events.subspan(
      static_cast<std::size_t>(std::ranges::lower_bound(events, begin, {}, &Event::begin) - events.begin()));
}

/// Two threads may end gradients in another order.
std::vector<std::int64_t> sizes_of(Gradients gradients) {
  std::vector<std::int64_t> sizes;
  for (const Events::Gradient& gradient : gradients) sizes.push_back(gradient.elements);
  std::ranges::sort(sizes);
  return sizes;
}

bool sends_gradients(std::span<const Events::Exchange> calls, double begin, double end) {
  return std::ranges::any_of(calls, [&](const Events::Exchange& call) {
    return call.begin >= begin && call.begin < end && is_reduction(call.operation);
  });
}

}  // namespace

KinetoTrace::KinetoTrace(KinetoEvents read) : events(std::move(read)), run_of(runs_of_calls(events)) {
  sort_by_begin(events.steps);
  sort_by_begin(events.tasks);
  sort_by_begin(events.gradients);
  sort_by_begin(events.optimizers);
  sort_by_begin(events.loads);
  std::ranges::sort(events.launches, {}, &Events::Launch::at);
  std::ranges::sort(events.kernels, {}, &Events::Kernel::begin);
  for (Events::Kernel& kernel : events.kernels)
    if (kernel.correlation > 0) kernels_.emplace(kernel.correlation, &kernel);
  for (const Events::Launch& launch : events.launches)
    if (const auto found = kernels_.find(launch.correlation); found != kernels_.end())
      found->second->launched = launch.at;
  const auto first = std::ranges::find_if(events.launches, [&](const auto& launch) { return kernel_of(launch); });
  if (first != events.launches.end()) first_launch_ = first->at;
  for (const Events::Kernel& kernel : events.kernels) cover(busy_, kernel.begin, kernel.end);
  for (const Events::Interval& load : events.loads) cover(loading_[load.thread], load.begin, load.end);
}

double KinetoTrace::busy(double begin, double end) const { return covered(busy_, begin, end); }

double KinetoTrace::held_since(double at) const {
  constexpr double kAtOnce = 1e-4, kRounded = 1e-6;
  const auto next = std::ranges::lower_bound(events.kernels, at - kRounded, {}, &Events::Kernel::begin);
  if (next == events.kernels.end() || next->begin > at + kAtOnce || next->launched > at - kAtOnce) return INFINITY;
  const auto busy = std::ranges::lower_bound(busy_, next->begin, {}, &Events::Interval::begin);
  return std::max(next->launched, busy == busy_.begin() ? next->launched : std::prev(busy)->end);
}

std::optional<double> KinetoTrace::loading(std::int64_t thread, double begin, double end) const {
  const auto found = loading_.find(thread);
  return found == loading_.end() ? std::nullopt : std::optional(covered(found->second, begin, end));
}

const KinetoEvents::Kernel* KinetoTrace::kernel_of(const KinetoEvents::Launch& launch) const {
  const auto found = kernels_.find(launch.correlation);
  return found == kernels_.end() ? nullptr : found->second;
}

RecordedStep read_step(const KinetoTrace& trace, const StepWindow& window, const BackwardPass& pass) {
  return StepReader(trace, window, pass).step();
}

BackwardPass last_pass(const KinetoTrace& trace, const StepWindow& window) {
  const auto tasks = begun_in(window, trace.events.tasks);
  const Gradients gradients = begun_in(window, trace.events.gradients);
  const BackwardPass all{.tasks = tasks, .gradients = gradients};
  const std::vector<double> begins = begins_of(tasks);
  if (begins.size() < 2) return all;
  const auto optimizers = begun_in(window, trace.events.optimizers);
  if (!optimizers.empty() && optimizers.front().begin < begins.back())
    return {.tasks = tasks, .gradients = gradients, .updates = true};
  const Gradients last = from(begins.back(), gradients);
  const std::vector<std::int64_t> sizes = sizes_of(last);
  Gradients before = gradients.first(gradients.size() - last.size());
  int passes = 0;
  for (auto begin = std::next(begins.rbegin()); begin != begins.rend(); ++begin, ++passes) {
    const Gradients pass = from(*begin, before);
    if (sizes_of(pass) != sizes) return all;
    before = before.first(before.size() - pass.size());
  }
  if (sizes.empty()) return all;
  if (sends_gradients(trace.events.calls, begins.front(), begins.back()))
    return {.tasks = tasks, .gradients = gradients, .repeats = true};
  return {.tasks = from(begins.back(), tasks), .gradients = last, .accumulated = passes};
}

}  // namespace hbench
