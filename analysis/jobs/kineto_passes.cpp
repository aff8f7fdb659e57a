/// The backward passes of one step of a trace.

#include <algorithm>
#include <vector>

#include "analysis/jobs/kineto_step.hpp"
#include "analysis/jobs/words.hpp"

namespace hbench {
namespace {

using Events = KinetoEvents;
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

BackwardPass last_pass(const KinetoTrace& trace, const StepWindow& window) {
  const auto tasks = begun_in(window, trace.events.tasks);
  const Gradients gradients = begun_in(window, trace.events.gradients);
  const BackwardPass all{.tasks = tasks, .gradients = gradients};
  const std::vector<double> begins = begins_of(tasks);
  if (begins.size() < 2) return all;
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
