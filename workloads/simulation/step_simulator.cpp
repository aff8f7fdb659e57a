#include "workloads/simulation/step_simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numbers>
#include <optional>

#include "collectives/base/error.hpp"
#include "collectives/exchange/exchange_parts.hpp"
#include "collectives/fusion/departures.hpp"
#include "collectives/fusion/shards.hpp"
#include "collectives/network/concurrent_collectives.hpp"

namespace hbench {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// Hours of the shortest usual cycle, and about a second of simulation.
constexpr int kMostCycles = 10'000'000;

/// Packing reads and writes every byte once; so does unpacking.
constexpr double kPackTraffic = 4;

}  // namespace

double expected_largest_normal(int ranks) {
  if (ranks <= 1) return 0;
  // E[max] = integral over x > 0 of (1 - F(x)^n - F(-x)^n), Simpson's rule; beyond 12 the integrand is below 1e-29.
  const auto integrand = [ranks](double x) {
    const double upper = 0.5 * std::erfc(x / std::numbers::sqrt2);
    return -std::expm1(ranks * std::log1p(-upper)) - std::pow(upper, ranks);
  };
  constexpr int kIntervals = 2400;
  constexpr double kWidth = 12.0 / kIntervals;
  double sum = integrand(0) + integrand(12);
  for (int i = 1; i < kIntervals; ++i) sum += (i % 2 == 1 ? 4 : 2) * integrand(i * kWidth);
  return sum * kWidth / 3;
}

StepSimulator::StepSimulator(const Profile& profile, const World& world, StopRequested stop)
    : profile_(&profile),
      stop_(std::move(stop)),
      world_(world),
      network_(profile, world),
      lateness_(expected_largest_normal(world.workers)),
      collectives_(profile, world, stop_) {}

std::vector<std::int64_t> StepSimulator::bucket_sizes() const {
  std::vector<std::int64_t> sizes;
  for (const auto& [key, time] : times_) sizes.push_back(std::get<std::int64_t>(key));
  return sizes;
}

Network& StepSimulator::network(double factor) {
  if (factor == 1) return network_;
  return slowed_.try_emplace(factor, profile_->slowed(factor), world_).first->second;
}

Seconds StepSimulator::exchange_time(const TrainingStrategy& strategy, std::int64_t elements) {
  const AlgorithmChoice& algorithm = strategy.algorithm.at(elements * static_cast<std::int64_t>(sizeof(float)));
  const CompressorChoice& compressor = strategy.compressor;
  const auto key = std::tuple(algorithm.text(), compressor.text(), elements);
  if (const auto known = times_.find(key); known != times_.end()) return known->second;
  Seconds time;
  switch (compressor.compressor->exchange) {
    case Exchange::per_hop:
      time = collective_time(algorithm, compressor.encoding(), elements);
      break;
    case Exchange::gather:
      time = gather_time(algorithm, compressor, elements);
      break;
    case Exchange::low_rank:
      time = low_rank_time(algorithm, compressor, elements);
      break;
  }
  times_.emplace(key, time);
  return time;
}

Seconds StepSimulator::gather_time(const AlgorithmChoice& algorithm, const CompressorChoice& compressor,
                                   std::int64_t elements) {
  const AlgorithmChoice gather = all_gather_of(algorithm).value();
  const std::int64_t payload = compressor.codec->max_wire_bytes(elements);
  return collective_time(gather, {.element_size = sizeof(std::int64_t)}, world_.workers) +
         collective_time(gather, {.element_size = 1}, payload * world_.workers) +
         coding_time(compressor, elements, 1 + world_.workers);
}

Seconds StepSimulator::low_rank_time(const AlgorithmChoice& algorithm, const CompressorChoice& compressor,
                                     std::int64_t elements) {
  const std::int64_t factor =
      compressor.codec->max_wire_bytes(elements) / (2 * static_cast<std::int64_t>(sizeof(float)));
  return 2 * collective_time(algorithm, {}, factor) + coding_time(compressor, elements, 2);
}

Seconds StepSimulator::collective_time(const AlgorithmChoice& algorithm, const Encoding& encoding,
                                       std::int64_t elements) {
  return collectives_.answer(algorithm, encoding, elements).time;
}

Seconds StepSimulator::coding_time(const CompressorChoice& compressor, std::int64_t elements, int passes) const {
  if (profile_->memory_rate.value == 0) return Seconds(0);
  const double traffic = static_cast<double>(elements) * sizeof(float) * compressor.compressor->memory_traffic;
  return Bytes(passes * traffic) / profile_->memory_rate;
}

/// One run of one workload: virtual clock, compute, policy, and the collectives in flight.
class StepRun {
 public:
  StepRun(StepSimulator& simulator, const StepTimeline& timeline, const TrainingStrategy& strategy,
          double network_factor, End end, std::vector<Span>* spans)
      : simulator_(simulator),
        profile_(*simulator.profile_),
        timeline_(timeline),
        strategy_(strategy),
        network_(simulator.network(network_factor)),
        network_factor_(network_factor),
        bytes_(bytes_of(timeline)),
        launched_(bytes_),
        spans_(spans) {
    std::vector<std::int64_t> elements;
    for (const GradientEvent& gradient : timeline.gradients) elements.push_back(gradient.elements);
    if (strategy.placement != nullptr) shards_ = strategy.placement->place(elements, simulator.world_.servers);
    policy_ = strategy.fusion.make(bytes_);
    late_ = 1 + profile_.straggler * simulator.lateness_;
    negotiation_ = negotiation_time(strategy.fusion.fusion->negotiation);
    const Preset& framework = strategy.preset != nullptr ? *strategy.preset : kUnnamedFramework;
    per_bucket_ = framework.per_bucket.at(end);
    overlap_ = framework.overlap.at(end);
  }

  StepTimes step() {
    begin();
    while (!finished()) {
      stop_if(simulator_.stop_);
      const double compute = next_compute();
      const double network = next_network();
      const double policy = next_policy();
      const double next = std::min({compute, network, policy});
      move_to(next);
      if (next == compute)
        compute_event();
      else if (next == network)
        network_event();
      else
        tick();
    }
    slow_beside_compute();
    if (spans_ != nullptr) add_compute_spans();
    return result();
  }

 private:
  /// The period from a point in time without communication to the next.
  struct Period {
    double begin;
    double end;
    double slowed_begin = 0;  ///< when it begins where compute slows those before
  };
  /// A bucket on the one stream.
  struct Queued {
    double ready;
    double duration;
    double packing;  ///< of the duration
    int bucket;
  };

  static std::vector<std::int64_t> bytes_of(const StepTimeline& timeline) {
    std::vector<std::int64_t> bytes;
    for (const GradientEvent& gradient : timeline.gradients)
      bytes.push_back(gradient.elements * static_cast<std::int64_t>(sizeof(float)));
    return bytes;
  }

  /// Messages to and from rank 0 along a tree, or one all-reduce of some bytes by recursive doubling: half as many.
  double negotiation_time(Negotiation negotiation) const {
    if (negotiation == Negotiation::none || simulator_.world_.workers == 1) return 0;
    const double hops = std::ceil(std::log2(simulator_.world_.workers));
    return (negotiation == Negotiation::names ? 2 : 1) * hops * profile_.network_latency.value * network_factor_;
  }

  void begin() {
    now_ = done_work_ = communication_ = negotiated_ = 0;
    next_gradient_ = 0;
    launched_.begin_step();
    backward_told_ = false;
    buckets_ = completed_ = 0;
    cycles_ = 0;
    stream_free_ = host_free_ = 0;
    periods_.clear();
    stream_.clear();
    departed_.clear();
    if (spans_ != nullptr) spans_->clear();
    ready_at_.assign(timeline_.gradients.size(), 0);
    network_.reset();
    in_flight_.emplace(network_, strategy_.compressor.encoding());
    tell({FusionEventKind::step_begin, Seconds(0), 0});
  }

  bool finished() const { return backward_told_ && launched_.complete() && completed_ == buckets_; }
  bool busy() const { return completed_ < buckets_; }
  bool computing() const { return done_work_ < compute_end(); }
  double pace() const { return busy() && computing() ? 1 + profile_.overlap_slowdown : 1; }

  /// Undisturbed compute of the slowest rank until the end of the step.
  double compute_end() const { return timeline_.step().value * late_; }

  double next_compute() const {
    if (backward_told_) return kNever;
    double work = compute_end();
    if (strategy_.overlap && next_gradient_ < timeline_.gradients.size())
      work = (timeline_.forward.value + timeline_.gradients[next_gradient_].ready.value) * late_;
    return now_ + std::max(0.0, work - done_work_) * pace();
  }

  double next_policy() const {
    const auto wakeup = policy_->wakeup();
    // The coordinator is one thread: the next cycle begins when it has notified everyone of the last one.
    return wakeup ? std::max({now_, wakeup->value, negotiated_}) : kNever;
  }

  double next_network() const {
    if (!strategy_.algorithm.concurrent()) return stream_.empty() ? kNever : stream_end();
    return in_flight_->idle() ? kNever : std::max(now_, in_flight_->next_event().value);
  }

  /// A cycle of the policy: of a step of weeks they would take for ever.
  void tick() {
    if (++cycles_ > kMostCycles)
      throw Error(ExitCode::usage,
                  fmt::format("a step of {:.3g} s has more than {} cycles of {}", timeline_.step().value, kMostCycles,
                              strategy_.fusion.text()),
                  "is the rate of one GPU right (--single-gpu-rate)? If so, take a fusion policy with a longer cycle");
    tell({FusionEventKind::timer, Seconds(now_), 0});
  }

  double stream_end() const { return std::max(stream_.front().ready, stream_free_) + stream_.front().duration; }

  void move_to(double time) {
    if (!backward_told_) done_work_ += (time - now_) / pace();
    if (busy()) communication_ += time - now_;
    now_ = time;
  }

  void compute_event() {
    const auto announce = [&] {
      ready_at_[next_gradient_] = now_;
      const int tensor = static_cast<int>(next_gradient_++);
      tell({FusionEventKind::gradient_ready, Seconds(now_), tensor});
    };
    if (strategy_.overlap && next_gradient_ < timeline_.gradients.size()) return announce();
    done_work_ = compute_end();
    backward_at_ = now_;
    while (next_gradient_ < timeline_.gradients.size()) announce();
    backward_told_ = true;
    tell({FusionEventKind::backward_done, Seconds(now_), 0});
  }

  void tell(const FusionEvent& event) {
    for (const Bucket& bucket : policy_->on(event)) launch(bucket);
  }

  void launch(const Bucket& bucket) {
    const std::int64_t elements = bucket.bytes(bytes_) / static_cast<std::int64_t>(sizeof(float));
    const double memory = profile_.memory_rate.value;
    // A lone tensor is reduced in place; several are copied into one buffer and back.
    const double packing =
        bucket.tensors.size() > 1 && memory > 0 ? kPackTraffic * 4.0 * static_cast<double>(elements) / memory : 0;
    if (negotiation_ > 0) negotiated_ = now_ + negotiation_;
    if (!busy()) periods_.push_back({now_, now_});
    const int number = buckets_++;
    launched_.leave(bucket);
    host_free_ = std::max(now_ + negotiation_, host_free_) + per_bucket_;
    double ready = 0;
    for (const int tensor : bucket.tensors) ready = std::max(ready, ready_at_[static_cast<std::size_t>(tensor)]);
    add_span(SpanKind::negotiation, ready, host_free_, number);
    if (strategy_.algorithm.concurrent()) {
      add_span(SpanKind::coding, host_free_, host_free_ + packing, number);
      return fly(bucket, elements, host_free_ + packing);
    }
    const Seconds time = simulator_.exchange_time(strategy_, elements);
    stream_.push_back({host_free_, packing + network_factor_ * time.value, packing, number});
  }

  void fly(const Bucket& bucket, std::int64_t elements, double start) {
    std::vector<Shard> shards;
    if (!shards_.empty()) shards = shards_of(bucket, shards_);
    const AlgorithmChoice& algorithm = strategy_.algorithm.at(elements * static_cast<std::int64_t>(sizeof(float)));
    in_flight_->begin(SimulationPlan(network_.layout(), algorithm.runs(simulator_.world_, 1, shards)), elements,
                      Seconds(start));
    departed_.push_back(start);
  }

  void network_event() {
    if (!strategy_.algorithm.concurrent()) {
      add_stream_spans(stream_.front());
      stream_free_ = now_;
      stream_.pop_front();
      return bucket_done();
    }
    if (const std::optional<int> bucket = in_flight_->advance()) {
      add_span(SpanKind::communication, departed_[static_cast<std::size_t>(*bucket)], now_, *bucket);
      bucket_done();
    }
  }

  void bucket_done() {
    ++completed_;
    periods_.back().end = now_;
    tell({FusionEventKind::bucket_done, Seconds(now_), completed_});
  }

  /// Communication that proceeds at a share of its rate as long as compute runs. A queue that always works when it can
  /// is busy from the same arrivals on, only longer.
  void slow_beside_compute() {
    if (overlap_ == 1) return;
    double end = 0;
    communication_ = 0;
    for (Period& period : periods_) {
      period.slowed_begin = std::max(period.begin, end);
      end = slowed(period, period.end);
      communication_ += end - period.slowed_begin;
    }
    now_ = std::max(end, backward_at_);
    if (spans_ == nullptr) return;
    for (Span& span : *spans_)
      for (Seconds* at : {&span.begin, &span.end}) *at = Seconds(slowed(at->value));
  }

  /// When the communication is as far as it was at `time` of its period.
  double slowed(const Period& period, double time) const {
    const double begin = period.slowed_begin, work = time - period.begin;
    const double beside = std::max(0.0, backward_at_ - begin) * overlap_;
    return work <= beside ? begin + work / overlap_ : std::max(begin, backward_at_) + work - beside;
  }
  /// The same of any time; what is in no period is not slowed.
  double slowed(double time) const {
    for (const Period& period : periods_)
      if (time >= period.begin && time <= period.end) return slowed(period, time);
    return time;
  }

  /// All ranks exchange alike; rank 0 stands for them.
  void add_span(SpanKind kind, double begin, double end, int bucket) {
    if (spans_ == nullptr || end <= begin) return;
    spans_->push_back(
        {.lane = Lane::communication, .kind = kind, .begin = Seconds(begin), .end = Seconds(end), .bucket = bucket});
  }

  /// Half of the packing is before the exchange, and half is after it.
  void add_stream_spans(const Queued& queued) {
    const double begin = now_ - queued.duration, half = queued.packing / 2;
    add_span(SpanKind::coding, begin, begin + half, queued.bucket);
    add_span(SpanKind::communication, begin + half, now_ - half, queued.bucket);
    add_span(SpanKind::coding, now_ - half, now_, queued.bucket);
  }

  /// Of the slowest rank, which computes until `backward_at_`, and of one that takes no longer than the timeline says.
  /// What communication slows is the backward pass: there it is in flight.
  void add_compute_spans() {
    const double typical = backward_at_ - (compute_end() - timeline_.step().value);
    add_compute_spans(0, timeline_.forward.value, typical);
    if (late_ > 1) add_compute_spans(1, timeline_.forward.value * late_, backward_at_);
  }
  void add_compute_spans(Rank rank, double forward, double computed) {
    const auto add = [&](SpanKind kind, double begin, double end) {
      spans_->push_back({.rank = rank, .kind = kind, .begin = Seconds(begin), .end = Seconds(end)});
    };
    add(SpanKind::step, 0, now_);
    add(SpanKind::forward, 0, forward);
    add(SpanKind::backward, forward, computed);
    add(SpanKind::wait, computed, now_);
  }

  StepTimes result() const {
    StepTimes times;
    times.step = Seconds(now_);
    times.compute = timeline_.step();
    times.straggler = Seconds(compute_end()) - times.compute;
    times.slowdown = Seconds(backward_at_ - compute_end());
    times.exposed = Seconds(now_ - backward_at_);
    times.communication = Seconds(communication_);
    times.buckets = buckets_;
    return times;
  }

  StepSimulator& simulator_;
  const Profile& profile_;
  const StepTimeline& timeline_;
  const TrainingStrategy& strategy_;
  Network& network_;
  double network_factor_;
  std::vector<std::int64_t> bytes_;  ///< by tensor
  Departures launched_;
  std::vector<std::vector<Shard>> shards_;
  std::unique_ptr<FusionPolicy> policy_;
  double late_ = 1;
  double negotiation_ = 0;
  double negotiated_ = 0;                ///< when the coordinator is free again
  double per_bucket_ = 0, overlap_ = 1;  ///< of the framework

  double now_ = 0;
  double done_work_ = 0;  ///< undisturbed seconds of compute done
  double backward_at_ = 0;
  double communication_ = 0;
  std::size_t next_gradient_ = 0;
  int cycles_ = 0;  ///< of the policy, in this step
  bool backward_told_ = false;
  int buckets_ = 0, completed_ = 0;
  double stream_free_ = 0, host_free_ = 0;
  std::vector<Period> periods_;   ///< with communication in flight, in order
  std::vector<double> ready_at_;  ///< by gradient
  std::vector<Span>* spans_;      ///< null: nobody asks
  std::deque<Queued> stream_;
  std::optional<ConcurrentCollectives> in_flight_;  ///< buckets that share the network, each with its own schedule
  std::vector<double> departed_;                    ///< by bucket in flight
};

StepTimes StepSimulator::run(const StepTimeline& timeline, const TrainingStrategy& strategy, double network_factor,
                             End end, std::vector<Span>* spans) {
  // One rank has nobody to wait for, not even for the next cycle of a fusion policy.
  if (world_.ranks() == 1) {
    if (spans != nullptr)
      *spans = {{.kind = SpanKind::step, .end = timeline.step()},
                {.kind = SpanKind::forward, .end = timeline.forward},
                {.kind = SpanKind::backward, .begin = timeline.forward, .end = timeline.step()}};
    return {.step = timeline.step(), .compute = timeline.step()};
  }
  StepRun run(*this, timeline, strategy, network_factor, end, spans);
  if (strategy.fusion.fusion->learns) run.step();
  return run.step();
}

}  // namespace hbench
