#include "workloads/simulation/step_parts.hpp"

#include "collectives/fusion/shards.hpp"

namespace hbench {

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

void SpanWriter::add_compute(const StepTimeline& timeline, const ComputeClock& compute, double reduced) {
  if (spans_ == nullptr) return;
  const double update = timeline.update.value;
  const auto add_rank = [&](Rank rank, double forward, double computed) {
    const auto add = [&](SpanKind kind, double begin, double end) {
      spans_->push_back({.rank = rank, .kind = kind, .begin = Seconds(begin), .end = Seconds(end)});
    };
    add(SpanKind::step, 0, reduced + update);
    add(SpanKind::forward, 0, forward);
    add(SpanKind::backward, forward, computed);
    add(SpanKind::wait, computed, reduced);
    if (update > 0) add(SpanKind::optimizer, reduced, reduced + update);
  };
  const double forward = timeline.forward.value;
  add_rank(0, forward, compute.ended_at() - (compute.work() - timeline.passes().value));
  if (compute.late() > 1) add_rank(1, forward * compute.late(), compute.ended_at());
}

InFlight::InFlight(Network& network, const StepTimeline& timeline, const TrainingStrategy& strategy, SpanWriter& spans)
    : network_(network), strategy_(strategy), spans_(spans) {
  if (strategy.placement != nullptr) shards_ = strategy.placement->place(timeline.elements(), network.world().servers);
}

void InFlight::begin() {
  stream_.clear();
  stream_free_ = 0;
  departed_.clear();
  network_.reset();
  concurrent_.emplace(network_, strategy_.compressor.encoding());
}

double InFlight::next(double now) const {
  if (strategy_.algorithm.concurrent())
    return concurrent_->idle() ? kNever : std::max(now, concurrent_->next_event().value);
  return stream_.empty() ? kNever : std::max(stream_.front().ready, stream_free_) + stream_.front().duration;
}

void InFlight::fly(const Bucket& bucket, std::int64_t elements, double start) {
  std::vector<Shard> shards;
  if (!shards_.empty()) shards = shards_of(bucket, shards_);
  const AlgorithmChoice& algorithm = strategy_.algorithm.at(elements * static_cast<std::int64_t>(sizeof(float)));
  const SimulationPlan plan(network_.layout(), algorithm.runs(network_.world(), 1, shards));
  concurrent_->begin(plan, elements, Seconds(start));
  departed_.push_back(start);
}

bool InFlight::advance(double now) {
  if (!strategy_.algorithm.concurrent()) {
    add_spans(stream_.front(), now);
    stream_free_ = now;
    stream_.pop_front();
    return true;
  }
  const std::optional<int> bucket = concurrent_->advance();
  if (bucket) spans_.add(SpanKind::communication, departed_[static_cast<std::size_t>(*bucket)], now, *bucket);
  return bucket.has_value();
}

/// Half of the packing is before the exchange, and half is after it.
void InFlight::add_spans(const Queued& queued, double now) {
  const double begin = now - queued.duration, half = queued.packing / 2;
  spans_.add(SpanKind::coding, begin, begin + half, queued.bucket);
  spans_.add(SpanKind::communication, begin + half, now - half, queued.bucket);
  spans_.add(SpanKind::coding, now - half, now, queued.bucket);
}

}  // namespace hbench
