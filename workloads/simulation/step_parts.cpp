#include "workloads/simulation/step_parts.hpp"

#include <cmath>

#include "collectives/fusion/departures.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {
namespace {

/// Packing reads and writes every byte once; so does unpacking.
constexpr double kPackTraffic = 4;

/// Numbers that memory moves for each parameter: deltas are written from two others; an outer update reads deltas,
/// reads and writes the original, and writes parameters, which it reads where a share of them stays, with twice its
/// state.
constexpr double kDeltaPasses = 3, kOuterPasses = 4;

/// Whether nothing but `next` waits for `task`, and `next` waits for it alone.
bool joined(const StepPlan& plan, int task, int next) {
  for (int other = 0; other < plan.size(); ++other)
    for (const After& after : plan.task(other).after)
      if ((other == next) != (after.task == task)) return false;
  return true;
}

bool nothing_waits_for(const StepPlan& plan, int task) {
  return std::ranges::none_of(plan.tasks, [&](const Task& other) {
    return std::ranges::find(other.after, task, &After::task) != other.after.end();
  });
}

/// Of the model's numbers, those of the tensors that a task is of.
double share_of(const StepPlan& plan, const Task& task, const StepTimeline& timeline) {
  if (task.unit == Task::kWhole) return 1;
  return static_cast<double>(elements_of(plan.units[static_cast<std::size_t>(task.unit)], timeline)) /
         static_cast<double>(timeline.all_elements());
}

/// \param parts into which an update of one's own part is cut
void add_task(ComputeStretch& stretch, const StepPlan& plan, int index, const StepTimeline& timeline, int parts) {
  const Task& task = plan.task(index);
  stretch.tasks.push_back(index);
  const Seconds backward = task.unit == Task::kWhole || !passes_by_unit(plan)
                               ? timeline.backward
                               : backward_of(plan.units, static_cast<std::size_t>(task.unit), timeline);
  switch (task.kind) {
    case TaskKind::forward:
      stretch.passes = stretch.passes + (task.unit == Task::kWhole ? timeline.forward
                                                                   : timeline.forward * (backward / timeline.backward));
      stretch.forward = true;
      stretch.before_backward = stretch.passes;
      break;
    case TaskKind::backward:
      stretch.backward = true;
      stretch.before_backward = stretch.passes;
      stretch.passes = stretch.passes + backward;
      stretch.has_gradients = feeds_by_tensor(plan, index);
      break;
    case TaskKind::apply:
      stretch.update = stretch.update + timeline.update / (task.own_part ? parts : 1);
      break;
    case TaskKind::delta:
      stretch.update = stretch.update + kDeltaPasses * share_of(plan, task, timeline) * timeline.memory_pass;
      break;
    case TaskKind::outer:
      stretch.update =
          stretch.update + (kOuterPasses + (plan.outer->own_share > 0 ? 1 : 0) + 2.0 * plan.outer->optimizer.state()) *
                               share_of(plan, task, timeline) * timeline.memory_pass;
      break;
    case TaskKind::collective:
      break;
  }
}

/// Messages to and from rank 0 along a tree, or one all-reduce of some bytes by recursive doubling: half as many.
double negotiation_time(Negotiation negotiation, const Profile& profile, int workers, double network_factor) {
  if (negotiation == Negotiation::none || workers == 1) return 0;
  const double hops = std::ceil(std::log2(workers));
  return (negotiation == Negotiation::names ? 2 : 1) * hops * profile.network_latency.value * network_factor;
}

}  // namespace

std::vector<ComputeStretch> compute_stretches(const StepPlan& plan, int iteration, const StepTimeline& timeline,
                                              int ranks) {
  std::vector<ComputeStretch> all;
  const int parts = sharded(plan).groups.size_among(ranks);
  int last = -1;
  for (int task = 0; task < plan.size(); ++task) {
    if (!plan.task(task).computes() || !plan.task(task).is_in(iteration)) continue;
    if (last < 0 || !joined(plan, last, task)) all.emplace_back();
    add_task(all.back(), plan, task, timeline, parts);
    last = task;
  }
  if (!all.empty()) all.back().ends_step = all.back().passes == Seconds(0) && nothing_waits_for(plan, last);
  return all;
}

void ComputeClock::begin_step(double late) {
  late_ = late;
  stretch_ = nullptr;
  ended_at_ = passes_ = slowed_ = waited_ = 0;
  updates_ = Seconds(0);
  ran_.clear();
}

void ComputeClock::begin(const ComputeStretch& stretch, double now) {
  stretch_ = &stretch;
  waited_ += now - ended_at_;
  begun_at_ = now;
  done_work_ = 0;
  gradients_ = 0;
}

double ComputeClock::next(double now, bool beside_communication) const {
  if (idle()) return kNever;
  const double until =
      next_is_gradient()
          ? (stretch_->before_backward.value + timeline_.gradients[static_cast<std::size_t>(gradients_)].ready.value) *
                late_
          : work();
  return now + std::max(0.0, until - done_work_) * pace(beside_communication);
}

bool ComputeClock::advance(double now) {
  if (next_is_gradient()) {
    ++gradients_;
    return false;
  }
  passes_ += late_passes();
  updates_ = updates_ + stretch_->update;
  slowed_ += now - begun_at_ - work();
  note_run(now);
  ended_at_ = now;
  stretch_ = nullptr;
  return true;
}

void ComputeClock::note_run(double now) {
  const double update = stretch_->update.value, computed = now - update;
  const double early = computed - (late_passes() - stretch_->passes.value);
  const double forward = stretch_->before_backward.value;
  if (stretch_->forward)
    ran_.push_back({SpanKind::forward, begun_at_, begun_at_ + forward * late_, begun_at_, begun_at_ + forward});
  if (stretch_->backward)
    ran_.push_back({SpanKind::backward, begun_at_ + forward * late_, computed, begun_at_ + forward, early});
  if (update > 0) ran_.push_back({SpanKind::optimizer, computed, now, early, early + update});
}

HostCosts::HostCosts(const Profile& profile, const TrainingStrategy& strategy, int workers, double network_factor,
                     End end)
    : profile_(profile),
      negotiation_(negotiation_time(strategy.fusion.fusion->negotiation, profile, workers, network_factor)) {
  const Preset& framework = strategy.preset != nullptr ? *strategy.preset : kUnnamedFramework;
  per_bucket_ = framework.per_bucket.at(end);
  overlap_ = framework.overlap.at(end);
  per_step_ = framework.per_step.at(end);
  if (strategy.compressor.at_most_casts()) return;
  coding_per_byte_ = framework.coding_per_byte.at(end);
  coding_per_tensor_ = framework.coding_per_tensor.at(end);
}

HostCosts::Departure HostCosts::leave(double now, std::int64_t elements, std::size_t tensors, bool coded) {
  constexpr auto kElementSize = static_cast<std::int64_t>(sizeof(float));
  const double memory = profile_.memory_rate.value;
  // A lone tensor is reduced in place; several are copied into one buffer and back.
  const double packing = tensors > 1 && memory > 0 ? kPackTraffic * 4.0 * static_cast<double>(elements) / memory : 0;
  const double coding = coded ? coding_per_byte_ * kElementSize * static_cast<double>(elements) +
                                    coding_per_tensor_ * static_cast<double>(tensors)
                              : 0;
  if (negotiation_ > 0) negotiated_ = now + negotiation_;
  free_ = std::max(now + negotiation_, free_) + per_bucket_;
  return {.at = free_, .coding = packing + coding};
}

double BusyPeriods::slow(double compute_end, double share) {
  compute_end_ = compute_end;
  share_ = share;
  double end = 0;
  total_ = 0;
  for (Period& period : periods_) {
    period.slowed_begin = std::max(period.begin, end);
    end = slowed(period, period.end);
    total_ += end - period.slowed_begin;
  }
  return end;
}

double BusyPeriods::slowed(const Period& period, double time) const {
  const double begin = period.slowed_begin, work = time - period.begin;
  const double beside = std::max(0.0, compute_end_ - begin) * share_;
  return work <= beside ? begin + work / share_ : std::max(begin, compute_end_) + work - beside;
}

double BusyPeriods::slowed(double time) const {
  for (const Period& period : periods_)
    if (time >= period.begin && time <= period.end) return slowed(period, time);
  return time;
}

void SpanWriter::slow(const BusyPeriods& periods) {
  if (spans_ == nullptr) return;
  for (Span& span : *spans_)
    for (Seconds* at : {&span.begin, &span.end}) *at = Seconds(periods.slowed(at->value));
}

void SpanWriter::add_compute(const ComputeClock& compute, double exchanged, double update) {
  add_rank(compute, 0, exchanged, update, true);
  if (compute.late() > 1) add_rank(compute, 1, exchanged, update, false);
}

void SpanWriter::add_rank(const ComputeClock& compute, Rank rank, double exchanged, double update, bool early) {
  if (spans_ == nullptr) return;
  const auto add = [&](SpanKind kind, double begin, double end) {
    spans_->push_back({.rank = rank, .kind = kind, .begin = Seconds(begin), .end = Seconds(end)});
  };
  add(SpanKind::step, 0, exchanged + update);
  double last = 0;
  for (const Ran& ran : compute.ran()) {
    const double begin = early ? ran.early_begin : ran.begin;
    if (begin > last) add(SpanKind::wait, last, begin);
    last = early ? ran.early_end : ran.end;
    add(ran.kind, begin, last);
  }
  add(SpanKind::wait, last, exchanged);
  if (update > 0) add(SpanKind::optimizer, exchanged, exchanged + update);
}

InFlight::InFlight(Network& network, ConcurrentPlans& plans, const StepTimeline& timeline,
                   const TrainingStrategy& strategy, SpanWriter& spans)
    : network_(network), plans_(plans), strategy_(strategy), spans_(spans) {
  if (strategy.placement != nullptr) shards_ = strategy.placement->place(timeline.elements(), network.world().servers);
}

void InFlight::begin() {
  streams_ = {};
  departed_.clear();
  network_.reset();
  concurrent_.emplace(network_, strategy_.compressor.encoding());
}

double InFlight::next(double now) const {
  if (strategy_.algorithm.concurrent())
    return concurrent_->idle() ? kNever : std::max(now, concurrent_->next_event().value);
  double first = kNever;
  for (const Stream& stream : streams_) first = std::min(first, stream.next());
  return first;
}

Moved InFlight::fly(const Bucket& bucket, std::int64_t elements, double start) {
  std::vector<Shard> shards;
  if (!shards_.empty()) shards = shards_of(bucket, shards_);
  const AlgorithmChoice& algorithm = strategy_.algorithm.at(elements * static_cast<std::int64_t>(sizeof(float)));
  const auto plan = plans_.of(network_.layout(), network_.world(), algorithm, shards, elements);
  concurrent_->begin(plan, Seconds(start));
  departed_.push_back(start);
  const double bytes_of_one =
      static_cast<double>(strategy_.compressor.encoding().wire_bytes(elements)) / static_cast<double>(elements);
  return plan->moved * (bytes_of_one / network_.world().workers);
}

std::optional<int> InFlight::advance(double now) {
  if (!strategy_.algorithm.concurrent()) {
    Stream& stream = *std::ranges::min_element(streams_, {}, &Stream::next);
    const int number = stream.queue.front().bucket;
    add_spans(stream.queue.front(), now);
    stream.free_at = now;
    stream.queue.pop_front();
    return number;
  }
  const std::optional<int> bucket = concurrent_->advance();
  if (bucket) spans_.add(SpanKind::communication, departed_[static_cast<std::size_t>(*bucket)], now, *bucket);
  return bucket;
}

/// Half of the packing is before the exchange, and half is after it.
void InFlight::add_spans(const Queued& queued, double now) {
  const double begin = now - queued.duration, half = queued.packing / 2;
  spans_.add(SpanKind::coding, begin, begin + half, queued.bucket);
  spans_.add(SpanKind::communication, begin + half, now - half, queued.bucket);
  spans_.add(SpanKind::coding, now - half, now, queued.bucket);
}

}  // namespace hbench
