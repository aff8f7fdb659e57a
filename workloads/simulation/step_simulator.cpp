#include "workloads/simulation/step_simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "collectives/base/error.hpp"
#include "collectives/exchange/exchange_parts.hpp"
#include "collectives/fusion/departures.hpp"
#include "workloads/simulation/step_parts.hpp"

namespace hbench {
namespace {

/// Hours of the shortest usual cycle, and about a second of simulation.
constexpr int kMostCycles = 10'000'000;

constexpr auto kElementSize = static_cast<std::int64_t>(sizeof(float));
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
  const AlgorithmChoice& algorithm = strategy.algorithm.at(elements * kElementSize);
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
  const std::int64_t factor = compressor.codec->max_wire_bytes(elements) / (2 * kElementSize);
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

/// One run of one workload: the virtual clock, the policy, and the costs of the framework's host.
class StepRun {
 public:
  StepRun(StepSimulator& simulator, const StepTimeline& timeline, const TrainingStrategy& strategy,
          double network_factor, End end, std::vector<Span>* spans)
      : simulator_(simulator),
        profile_(*simulator.profile_),
        timeline_(timeline),
        strategy_(strategy),
        network_factor_(network_factor),
        bytes_(bytes_of(timeline)),
        policy_(strategy.fusion.make(bytes_)),
        launched_(bytes_),
        compute_(timeline, 1 + profile_.straggler * simulator.lateness_, profile_.overlap_slowdown, strategy.overlap),
        spans_(spans),
        in_flight_(simulator.network(network_factor), timeline, strategy, spans_),
        negotiation_(negotiation_time(strategy.fusion.fusion->negotiation)) {
    const Preset& framework = strategy.preset != nullptr ? *strategy.preset : kUnnamedFramework;
    per_bucket_ = framework.per_bucket.at(end);
    overlap_ = framework.overlap.at(end);
    per_step_ = framework.per_step.at(end);
    if (!strategy.compressor.at_most_casts()) {
      coding_per_byte_ = framework.coding_per_byte.at(end);
      coding_per_tensor_ = framework.coding_per_tensor.at(end);
    }
  }

  StepTimes step() {
    begin();
    while (!compute_.ended() || !launched_.complete() || periods_.busy()) {
      stop_if(simulator_.stop_);
      const double compute = compute_.next(now_, periods_.busy()), network = in_flight_.next(now_);
      move_to(std::min({compute, network, next_policy()}));
      if (now_ == compute)
        compute_event();
      else if (now_ == network)
        network_event();
      else
        tick();
    }
    if (overlap_ != 1) {
      now_ = std::max(periods_.slow(compute_.ended_at(), overlap_), compute_.ended_at());
      spans_.slow(periods_);
    }
    now_ += per_step_;
    spans_.add_compute(timeline_, compute_, now_);
    return result();
  }

 private:
  static std::vector<std::int64_t> bytes_of(const StepTimeline& timeline) {
    std::vector<std::int64_t> sizes = timeline.elements();
    for (std::int64_t& size : sizes) size *= kElementSize;
    return sizes;
  }

  /// Messages to and from rank 0 along a tree, or one all-reduce of some bytes by recursive doubling: half as many.
  double negotiation_time(Negotiation negotiation) const {
    if (negotiation == Negotiation::none || simulator_.world_.workers == 1) return 0;
    const double hops = std::ceil(std::log2(simulator_.world_.workers));
    return (negotiation == Negotiation::names ? 2 : 1) * hops * profile_.network_latency.value * network_factor_;
  }

  void begin() {
    now_ = negotiated_ = host_free_ = 0;
    cycles_ = 0;
    ready_at_.assign(timeline_.gradients.size(), 0);
    launched_.begin_step();
    compute_.begin();
    periods_.begin();
    spans_.begin();
    in_flight_.begin();
    handle({FusionEventKind::step_begin, Seconds(0), 0});
  }

  double next_policy() const {
    const auto wakeup = policy_->wakeup();
    // The coordinator is one thread: the next cycle begins when it has notified everyone of the last one.
    return wakeup ? std::max({now_, wakeup->value, negotiated_}) : kNever;
  }

  void move_to(double time) {
    compute_.pass(time - now_, periods_.busy());
    periods_.pass(time - now_);
    now_ = time;
  }

  void compute_event() {
    const int before = compute_.gradients();
    compute_.advance(now_);
    for (int tensor = before; tensor < compute_.gradients(); ++tensor) {
      ready_at_[static_cast<std::size_t>(tensor)] = now_;
      handle({FusionEventKind::gradient_ready, Seconds(now_), tensor});
    }
    if (compute_.ended()) handle({FusionEventKind::backward_done, Seconds(now_), 0});
  }

  void network_event() {
    if (in_flight_.advance(now_)) handle({FusionEventKind::bucket_done, Seconds(now_), periods_.arrive(now_)});
  }

  /// A cycle of the policy: of a step of weeks they would take for ever.
  void tick() {
    if (++cycles_ > kMostCycles)
      throw Error(ExitCode::usage,
                  fmt::format("a step of {:.3g} s has more than {} cycles of {}", timeline_.step().value, kMostCycles,
                              strategy_.fusion.text()),
                  "is the rate of one GPU right (--single-gpu-rate)? If so, take a fusion policy with a longer cycle");
    handle({FusionEventKind::timer, Seconds(now_), 0});
  }

  void handle(const FusionEvent& event) {
    for (const Bucket& bucket : policy_->on(event)) launch(bucket);
  }

  void launch(const Bucket& bucket) {
    const std::int64_t elements = bucket.bytes(bytes_) / kElementSize;
    const double memory = profile_.memory_rate.value;
    // A lone tensor is reduced in place; several are copied into one buffer and back.
    const double packing =
        bucket.tensors.size() > 1 && memory > 0 ? kPackTraffic * 4.0 * static_cast<double>(elements) / memory : 0;
    const double coding = coding_per_byte_ * kElementSize * static_cast<double>(elements) +
                          coding_per_tensor_ * static_cast<double>(bucket.tensors.size());
    if (negotiation_ > 0) negotiated_ = now_ + negotiation_;
    const int number = periods_.leave(now_);
    launched_.leave(bucket);
    host_free_ = std::max(now_ + negotiation_, host_free_) + per_bucket_;
    double ready = 0;
    for (const int tensor : bucket.tensors) ready = std::max(ready, ready_at_[static_cast<std::size_t>(tensor)]);
    spans_.add(SpanKind::negotiation, ready, host_free_, number);
    if (strategy_.algorithm.concurrent()) {
      spans_.add(SpanKind::coding, host_free_, host_free_ + packing + coding, number);
      return in_flight_.fly(bucket, elements, host_free_ + packing + coding);
    }
    const double time = network_factor_ * simulator_.exchange_time(strategy_, elements).value;
    in_flight_.queue(number, host_free_, packing + coding + time, packing + coding);
  }

  StepTimes result() const {
    return {.step = Seconds(now_) + timeline_.update,
            .compute = timeline_.passes(),
            .straggler = Seconds(compute_.work()) - timeline_.passes(),
            .slowdown = Seconds(compute_.ended_at() - compute_.work()),
            .exposed = Seconds(now_ - compute_.ended_at()),
            .update = timeline_.update,
            .communication = Seconds(periods_.total()),
            .buckets = periods_.buckets()};
  }

  StepSimulator& simulator_;
  const Profile& profile_;
  const StepTimeline& timeline_;
  const TrainingStrategy& strategy_;
  double network_factor_;
  std::vector<std::int64_t> bytes_;  ///< by tensor
  std::unique_ptr<FusionPolicy> policy_;
  Departures launched_;
  ComputeClock compute_;
  BusyPeriods periods_;
  SpanWriter spans_;
  InFlight in_flight_;
  double negotiation_;
  double per_bucket_ = 0, overlap_ = 1, per_step_ = 0;  ///< of the framework
  double coding_per_byte_ = 0, coding_per_tensor_ = 0;

  double now_ = 0;
  double negotiated_ = 0;         ///< when the coordinator is free again
  double host_free_ = 0;          ///< when the framework's thread is
  int cycles_ = 0;                ///< of the policy, in this step
  std::vector<double> ready_at_;  ///< by gradient
};

StepTimes StepSimulator::run(const StepTimeline& timeline, const TrainingStrategy& strategy, double network_factor,
                             End end, std::vector<Span>* spans) {
  // One rank has nobody to wait for, not even for the next cycle of a fusion policy.
  if (world_.ranks() == 1) {
    if (spans != nullptr) {
      *spans = {{.kind = SpanKind::step, .end = timeline.step()},
                {.kind = SpanKind::forward, .end = timeline.forward},
                {.kind = SpanKind::backward, .begin = timeline.forward, .end = timeline.passes()}};
      if (timeline.update.value > 0)
        spans->push_back({.kind = SpanKind::optimizer, .begin = timeline.passes(), .end = timeline.step()});
    }
    return {.step = timeline.step(), .compute = timeline.passes(), .update = timeline.update};
  }
  const bool on_servers = strategy.preset != nullptr && strategy.preset->servers_update;
  const StepTimeline passes = on_servers ? timeline.merged() : timeline;
  StepRun run(*this, passes, strategy, network_factor, end, spans);
  if (strategy.fusion.fusion->learns) run.step();
  return run.step();
}

}  // namespace hbench
