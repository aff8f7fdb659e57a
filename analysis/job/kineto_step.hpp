#pragma once

/// One step out of the events of a trace: where its time went, on the device where there is one.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/job/kineto_events.hpp"

namespace hbench {

/// The events of one rank in the order of their begins, with what belongs together found. Its pointers point into
/// itself.
struct KinetoTrace {
  explicit KinetoTrace(KinetoEvents read);
  KinetoTrace(const KinetoTrace&) = delete;
  KinetoTrace& operator=(const KinetoTrace&) = delete;

  /// Returns the kernel of the model that was launched so; null: it is not in the recording, or is a collective's.
  const KinetoEvents::Kernel* kernel_of(const KinetoEvents::Launch& launch) const;
  /// Returns the seconds between two times with at least one kernel of the model at work.
  double busy(double begin, double end) const;
  /// Returns the seconds between two times that a thread was in calls of the data loader; absent where it made none.
  std::optional<double> loading(std::int64_t thread, double begin, double end) const;
  /// Returns since when no kernel of the model had been at work when the first one began that began at a time or later;
  /// where that had been launched later, or began later than at once: infinite.
  double held_since(double at) const;
  /// Returns whether a kernel of the model is known that was launched before a time of the host.
  bool launched_before(double host) const { return first_launch_ < host; }

  KinetoEvents events;
  std::vector<const KinetoEvents::Exchange*> run_of;  ///< by call; null: not known

 private:
  std::unordered_map<std::int64_t, KinetoEvents::Kernel*> kernels_;
  // Apart from each other, in their order.
  std::vector<KinetoEvents::Interval> busy_;
  std::unordered_map<std::int64_t, std::vector<KinetoEvents::Interval>> loading_;  ///< by thread
  double first_launch_ = std::numeric_limits<double>::infinity();                  ///< that has a kernel
};

/// A part of the host's time that is one step.
struct StepWindow {
  std::string name;
  double begin = 0, end = 0;
  std::int64_t thread = 0;  ///< that marked it, or called its optimizer
};

/// What of a step's tasks and gradients its last backward pass has, where that says all.
struct BackwardPass {
  std::span<const KinetoEvents::Task> tasks;
  std::span<const KinetoEvents::Gradient> gradients;
  int accumulated = 0;   ///< passes of the same gradients before it, which were added up and not sent
  bool repeats = false;  ///< the passes before it had the same gradients, and these were sent each time
  bool updates = false;  ///< between passes an optimizer was called: they are of several models, or of several steps
};

/// Finds the pass whose gradients are the step's: the last one, where those before it have gradients of the same sizes
/// (micro-batches) and exchange none. Else all passes count as one: of several losses with parameters of their own,
/// and where the recording does not number its operators.
BackwardPass last_pass(const KinetoTrace& trace, const StepWindow& window);

/// Of events in the order of their begins, those that began in the window.
template <class Event>
std::span<const Event> begun_in(const StepWindow& window, const std::vector<Event>& events) {
  const auto first = std::ranges::lower_bound(events, window.begin, {}, &Event::begin);
  return {first, std::ranges::lower_bound(first, events.end(), window.end, {}, &Event::begin)};
}

/// Returns what the recording says of a step whose last backward pass is `pass`. On a device that is behind its host, a
/// step is from the end of the work of the step before to the end of its own.
RecordedStep read_step(const KinetoTrace& trace, const StepWindow& window, const BackwardPass& pass);

}  // namespace hbench
