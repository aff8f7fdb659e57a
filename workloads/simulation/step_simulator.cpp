#include "workloads/simulation/step_simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "collectives/base/error.hpp"
#include "collectives/exchange/exchange_parts.hpp"
#include "workloads/methods/step_progress.hpp"
#include "workloads/simulation/step_parts.hpp"
#include "workloads/step/model_units.hpp"

namespace hbench {
namespace {

/// Hours of the shortest usual cycle, and about a second of simulation.
constexpr int kMostCycles = 10'000'000;

constexpr auto kElementSize = static_cast<std::int64_t>(sizeof(float));
/// Parameters travel as they are.
const CompressorChoice& verbatim() {
  static const CompressorChoice choice = parse_compressor("none");
  return choice;
}

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

Seconds StepSimulator::exchange_time(const TrainingStrategy& strategy, const Task& task, std::int64_t elements) {
  const AlgorithmChoice algorithm = part_of(strategy.algorithm.at(elements * kElementSize), task.collective).value();
  const CompressorChoice& compressor = task.carried == Carried::gradients ? strategy.compressor : verbatim();
  const auto key = std::tuple(task.collective, algorithm.text(), compressor.text(), elements);
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
         coding_time(compressor, elements, 1, world_.workers);
}

Seconds StepSimulator::low_rank_time(const AlgorithmChoice& algorithm, const CompressorChoice& compressor,
                                     std::int64_t elements) {
  const std::int64_t factor = compressor.codec->max_wire_bytes(elements) / (2 * kElementSize);
  return 2 * collective_time(algorithm, {}, factor) + coding_time(compressor, elements, 1, 1);
}

Seconds StepSimulator::collective_time(const AlgorithmChoice& algorithm, const Encoding& encoding,
                                       std::int64_t elements) {
  return collectives_.answer(algorithm, encoding, elements).time;
}

Seconds StepSimulator::coding_time(const CompressorChoice& compressor, std::int64_t elements, int encodes,
                                   int decodes) const {
  const double memory_seconds_per_byte = profile_->memory_rate.value > 0 ? 1 / profile_->memory_rate.value : 0;
  return Seconds(compressor.encoding().coding(static_cast<double>(elements * kElementSize), encodes, decodes,
                                              memory_seconds_per_byte));
}

/// One run of one workload: walks the plan of the method in virtual time.
class StepRun {
 public:
  StepRun(StepSimulator& simulator, const StepTimeline& timeline, const TrainingStrategy& strategy,
          double network_factor, End end, std::vector<Span>* spans)
      : simulator_(simulator),
        timeline_(timeline),
        strategy_(strategy),
        network_factor_(network_factor),
        bytes_(bytes_of(timeline)),
        progress_(strategy.method.plan(strategy.overlap, model_units(timeline)), strategy.fusion, bytes_),
        stretches_(compute_stretches(progress_.plan(), timeline, simulator.world_.workers)),
        compute_(timeline, 1 + simulator.profile_->straggler * lateness(simulator.lateness_, progress_.plan()),
                 simulator.profile_->overlap_slowdown),
        spans_(spans),
        in_flight_(simulator.network(network_factor), timeline, strategy, spans_),
        host_(*simulator.profile_, strategy, simulator.world_.workers, network_factor, end) {}

  const StepPlan& plan() const { return progress_.plan(); }

  StepTimes step(int iteration) {
    begin(iteration);
    while (!progress_.ended()) {
      stop_if(simulator_.stop_);
      const double compute = compute_.next(now_, periods_.busy()), network = in_flight_.next(now_);
      move_to(std::min({compute, network, next_timer()}));
      if (now_ == compute)
        compute_event();
      else if (now_ == network)
        network_event();
      else
        tick();
    }
    if (host_.overlap() != 1) {
      now_ = std::max(periods_.slow(compute_.ended_at(), host_.overlap()), compute_.ended_at());
      spans_.slow(periods_);
    }
    now_ += host_.per_step();
    spans_.add_compute(compute_, now_, tail_.value);
    return result();
  }

 private:
  static std::vector<std::int64_t> bytes_of(const StepTimeline& timeline) {
    std::vector<std::int64_t> sizes = timeline.elements();
    for (std::int64_t& size : sizes) size *= kElementSize;
    return sizes;
  }

  /// Ranks that meet after several iterations wait for who is slowest in all of them together: draws add up, and
  /// deviations by the root of their number.
  static double lateness(double of_one, const StepPlan& plan) {
    int period = plan.cycle();
    for (const Task& task : plan.tasks)
      if (!task.computes()) period = std::min(period, task.every);
    return of_one / std::sqrt(period);
  }

  void begin(int iteration) {
    now_ = 0;
    cycles_ = 0;
    tail_ = Seconds(0);
    next_stretch_ = 0;
    task_of_.clear();
    ready_at_.assign(timeline_.gradients.size(), 0);
    compute_.begin_step();
    periods_.begin();
    spans_.begin();
    in_flight_.begin();
    host_.begin();
    follow(progress_.begin(iteration));
  }

  double next_timer() const {
    const auto wakeup = progress_.wakeup();
    return wakeup ? std::max({now_, wakeup->value, host_.negotiated()}) : kNever;
  }

  void move_to(double time) {
    compute_.pass(time - now_, periods_.busy());
    periods_.pass(time - now_);
    now_ = time;
  }

  void compute_event() {
    const ComputeStretch& stretch = compute_.stretch();
    if (!compute_.advance(now_)) return gradient_ready(compute_.gradients() - 1);
    if (!stretch.has_gradients) ready_at_.assign(ready_at_.size(), now_);
    end_stretch(stretch);
    begin_stretch();
  }

  void gradient_ready(int tensor) {
    ready_at_[static_cast<std::size_t>(tensor)] = now_;
    for (const int task : compute_.stretch().tasks) follow(progress_.tensor_done(task, tensor, Seconds(now_)));
  }

  void end_stretch(const ComputeStretch& stretch) {
    for (const int task : stretch.tasks) follow(progress_.task_done(task, Seconds(now_)));
  }

  /// Begins what the compute stream has next, once it is idle and the tasks before allow it.
  void begin_stretch() {
    if (!compute_.idle() || next_stretch_ == stretches_.size()) return;
    const ComputeStretch& next = stretches_[next_stretch_];
    if (!progress_.may_begin(next.tasks.front())) return;
    ++next_stretch_;
    if (!next.ends_step) return compute_.begin(next, now_);
    tail_ = next.update;
    end_stretch(next);
  }

  void follow(const std::vector<Start>& starts) {
    for (const Start& start : starts) start.bucket ? launch(start.task, *start.bucket) : begin_stretch();
  }

  void network_event() {
    const std::optional<int> bucket = in_flight_.advance(now_);
    if (!bucket) return;
    periods_.arrive(now_);
    follow(progress_.bucket_done(task_of_[static_cast<std::size_t>(*bucket)], Seconds(now_)));
  }

  /// A cycle of the policy: of a step of weeks they would take for ever.
  void tick() {
    if (++cycles_ > kMostCycles)
      throw Error(ExitCode::usage,
                  fmt::format("a step of {:.3g} s has more than {} cycles of {}", timeline_.step().value, kMostCycles,
                              strategy_.fusion.text()),
                  "is the rate of one GPU right (--single-gpu-rate)? If so, take a fusion policy with a longer cycle");
    follow(progress_.timer(Seconds(now_)));
  }

  void launch(int task, const Bucket& bucket) {
    const bool gradients = plan().task(task).carried == Carried::gradients;
    const std::int64_t elements = elements_of(task, bucket);
    const HostCosts::Departure left = host_.leave(now_, elements, bucket.tensors.size(), gradients);
    const int number = periods_.leave(now_);
    task_of_.push_back(task);
    double ready = 0;
    for (const int tensor : bucket.tensors) ready = std::max(ready, ready_at_[static_cast<std::size_t>(tensor)]);
    spans_.add(SpanKind::negotiation, ready, left.at, number);
    if (strategy_.algorithm.concurrent()) {
      spans_.add(SpanKind::coding, left.at, left.at + left.coding, number);
      return in_flight_.fly(bucket, elements, left.at + left.coding);
    }
    const Seconds time = simulator_.exchange_time(strategy_, plan().task(task), elements);
    in_flight_.queue(number, left.at, left.coding + network_factor_ * time.value, left.coding);
  }

  /// Numbers of 4 bytes that travel.
  std::int64_t elements_of(int task, const Bucket& bucket) const {
    const std::int64_t elements = bucket.bytes(bytes_) / kElementSize;
    return plan().task(task).unit == Task::kWhole || plan().task(task).carried == Carried::gradients
               ? elements
               : static_cast<std::int64_t>(std::ceil(static_cast<double>(elements) * timeline_.gathered));
  }

  StepTimes result() const {
    return {.step = Seconds(now_) + tail_,
            .compute = timeline_.passes(),
            .straggler = Seconds(compute_.passes()) - timeline_.passes(),
            .slowdown = Seconds(compute_.slowed()),
            .exposed = Seconds(compute_.waited() + (now_ - compute_.ended_at())),
            .update = compute_.updates() + tail_,
            .alone = timeline_.step(),
            .communication = Seconds(periods_.total()),
            .buckets = periods_.buckets()};
  }

  StepSimulator& simulator_;
  const StepTimeline& timeline_;
  const TrainingStrategy& strategy_;
  double network_factor_;
  std::vector<std::int64_t> bytes_;  ///< by tensor
  StepProgress progress_;
  std::vector<ComputeStretch> stretches_;
  ComputeClock compute_;
  BusyPeriods periods_;
  SpanWriter spans_;
  InFlight in_flight_;
  HostCosts host_;

  double now_ = 0;
  int cycles_ = 0;  ///< of the policy, in this step
  Seconds tail_;    ///< of the update that ends the step
  std::size_t next_stretch_ = 0;
  std::vector<int> task_of_;      ///< by bucket
  std::vector<double> ready_at_;  ///< by tensor
};

namespace {

/// Which tasks of a plan are done in an iteration.
std::vector<bool> tasks_in(const StepPlan& plan, int iteration) {
  std::vector<bool> in;
  for (const Task& task : plan.tasks) in.push_back(task.is_in(iteration));
  return in;
}

/// Adds a step to a mean of which it makes `share`.
void add_share(StepTimes& sum, const StepTimes& step, double share) {
  for (Seconds StepTimes::*part : {&StepTimes::step, &StepTimes::compute, &StepTimes::straggler, &StepTimes::slowdown,
                                   &StepTimes::exposed, &StepTimes::update, &StepTimes::communication})
    sum.*part = sum.*part + step.*part * share;
  sum.alone = step.alone;
  sum.buckets = std::max(sum.buckets, step.buckets);
}

/// The mean step of a cycle of the plan, in which steps with the same tasks are alike.
StepTimes mean_step(StepRun& run) {
  const StepPlan& plan = run.plan();
  const int cycle = plan.cycle();
  if (cycle == 1) return run.step(0);
  std::map<std::vector<bool>, int> alike;
  for (int iteration = 0; iteration < cycle; ++iteration) ++alike[tasks_in(plan, iteration)];
  StepTimes mean;
  for (int iteration = 0; iteration < cycle; ++iteration) {
    const auto found = alike.find(tasks_in(plan, iteration));
    if (found == alike.end()) continue;
    add_share(mean, run.step(iteration), static_cast<double>(found->second) / cycle);
    alike.erase(found);
  }
  return mean;
}

}  // namespace

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
    return {.step = timeline.step(), .compute = timeline.passes(), .update = timeline.update, .alone = timeline.step()};
  }
  const bool on_servers = strategy.preset != nullptr && strategy.preset->servers_update;
  const StepTimeline passes = on_servers ? timeline.merged() : timeline;
  StepRun run(*this, passes, strategy, network_factor, end, spans);
  // A policy learns in a step in which all tasks are done.
  if (strategy.fusion.fusion->learns) run.step(run.plan().cycle() - 1);
  return mean_step(run);
}

}  // namespace hbench
