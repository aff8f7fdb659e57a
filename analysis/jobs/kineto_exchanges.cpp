/// Which events of a trace are one collective: the program's call of it, and its run on a device or a thread.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/jobs/kineto_events.hpp"

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

/// A kernel that was launched before the recording began, as the last steps of a warm-up are: the launches of others
/// are there, its own is not, and it runs before all of these.
class Earlier {
 public:
  Earlier(const Events& events, const Runs& run_of) {
    for (const Events::Launch& launch : events.launches) launched_.insert(launch.correlation);
    for (const Events::Exchange* run : run_of)
      if (run != nullptr && launched_.contains(run->correlation)) first_ = std::min(first_, run->begin);
  }

  bool operator()(const Events::Exchange& run) const {
    return std::isfinite(first_) && run.correlation > 0 && run.begin < first_ && !launched_.contains(run.correlation);
  }

 private:
  std::unordered_set<std::int64_t> launched_;
  double first_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<const KinetoEvents::Exchange*> runs_of_calls(KinetoEvents& events) {
  join_calls(events);
  Runs run_of(events.calls.size());
  Runs open = assign_by_launch(events, run_of);
  const Earlier earlier(events, run_of);
  std::erase_if(open, [&](const Events::Exchange* run) { return earlier(*run); });
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

}  // namespace hbench
