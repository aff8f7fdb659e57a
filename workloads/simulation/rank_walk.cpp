#include "workloads/simulation/rank_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collectives/base/error.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {
namespace {

/// Hours of the shortest usual cycle, and about a second of simulation.
constexpr int kMostCycles = 10'000'000;

constexpr auto kNumberBytes = static_cast<std::int64_t>(sizeof(float));

}  // namespace

RankWalk::RankWalk(const Request& request, Carrier& carrier)
    : timeline_(request.timeline),
      strategy_(request.strategy),
      rank_(request.rank),
      carrier_(carrier),
      bytes_(bytes_of(timeline_)),
      progress_(strategy_.method.plan(strategy_.overlap, {.elements = timeline_.elements(),
                                                          .units = model_units(timeline_),
                                                          .micro_batches = timeline_.micro_batches}),
                strategy_.fusion, bytes_),
      workers_(request.world.workers),
      compute_(timeline_, request.profile.overlap_slowdown),
      spans_(request.spans),
      host_(request.profile, strategy_, request.world.workers, request.network_factor, request.end) {}

std::vector<std::int64_t> RankWalk::bytes_of(const StepTimeline& timeline) {
  std::vector<std::int64_t> sizes = timeline.elements();
  for (std::int64_t& size : sizes) size *= kNumberBytes;
  return sizes;
}

void RankWalk::begin(int iteration, double late, int more) {
  now_ = 0;
  more_ = more;
  iterations_ = 1 + more;
  cycles_ = 0;
  tail_ = Seconds(0);
  task_of_.clear();
  ready_at_.assign(timeline_.gradients.size(), 0);
  compute_.begin_step(late);
  periods_.begin();
  spans_.begin();
  host_.begin();
  enter(iteration);
}

void RankWalk::go_on() {
  --more_;
  enter(iteration_ + 1);
}

void RankWalk::enter(int iteration) {
  iteration_ = iteration;
  next_stretch_ = 0;
  stretches_ = compute_stretches(plan(), iteration, timeline_, workers_);
  // What follows an update waits for it.
  if (more_ > 0 && !stretches_.empty()) stretches_.back().ends_step = false;
  follow(progress_.begin(iteration));
}

double RankWalk::next_timer() const {
  const auto wakeup = progress_.wakeup();
  return wakeup ? std::max({now_, wakeup->value, host_.negotiated()}) : kNever;
}

void RankWalk::move_to(double time) {
  compute_.pass(time - now_, periods_.busy());
  periods_.pass(time - now_);
  now_ = time;
}

void RankWalk::compute_event() {
  const ComputeStretch& stretch = compute_.stretch();
  if (!compute_.advance(now_)) return gradient_ready(compute_.gradients() - 1);
  if (!stretch.has_gradients) ready_at_.assign(ready_at_.size(), now_);
  end_stretch(stretch);
  begin_stretch();
}

void RankWalk::gradient_ready(int tensor) {
  ready_at_[static_cast<std::size_t>(tensor)] = now_;
  for (const int task : compute_.stretch().tasks) follow(progress_.tensor_done(task, tensor, Seconds(now_)));
}

void RankWalk::end_stretch(const ComputeStretch& stretch) {
  for (const int task : stretch.tasks) follow(progress_.task_done(task, Seconds(now_)));
}

void RankWalk::begin_stretch() {
  if (!compute_.idle() || next_stretch_ == stretches_.size()) return;
  const ComputeStretch& next = stretches_[next_stretch_];
  if (!progress_.may_begin(next.tasks.front())) return;
  ++next_stretch_;
  if (!next.ends_step) return compute_.begin(next, now_);
  tail_ = next.update;
  end_stretch(next);
}

void RankWalk::follow(const std::vector<Start>& starts) {
  for (const Start& start : starts) start.bucket ? launch(start.task, *start.bucket) : begin_stretch();
}

/// A cycle of the policy: of a step of weeks they would take for ever.
void RankWalk::timer_event() {
  if (++cycles_ > kMostCycles)
    throw Error(ExitCode::usage,
                fmt::format("a step of {:.3g} s has more than {} cycles of {}", timeline_.step().value, kMostCycles,
                            strategy_.fusion.text()),
                "is the rate of one GPU right (--single-gpu-rate)? If so, take a fusion policy with a longer cycle");
  follow(progress_.timer(Seconds(now_)));
}

void RankWalk::arrived(int number) {
  periods_.arrive(now_);
  follow(progress_.bucket_done(task_of_[static_cast<std::size_t>(number)], Seconds(now_)));
}

void RankWalk::launch(int task, const Bucket& bucket) {
  const std::int64_t elements = elements_of(task, bucket);
  const HostCosts::Departure left = host_.leave(now_, elements, bucket.tensors.size(), plan().task(task).coded());
  const int number = periods_.leave(now_);
  task_of_.push_back(task);
  double ready = 0;
  for (const int tensor : bucket.tensors) ready = std::max(ready, ready_at_[static_cast<std::size_t>(tensor)]);
  spans_.add(SpanKind::negotiation, ready, left.at, number);
  carrier_.carry(*this, {number, task, bucket, elements, left});
}

std::int64_t RankWalk::elements_of(int task, const Bucket& bucket) const {
  const Task& travels = plan().task(task);
  const std::int64_t elements = bucket.bytes(bytes_) / kNumberBytes;
  if (travels.unit == Task::kWhole) return elements;
  const int parts = travels.part_among ? travels.part_among->size_among(workers_) : 1;
  const double each = travels.adds_up() ? 1 : timeline_.gathered;
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(elements) * each / parts));
}

StepTimes RankWalk::finish() {
  if (host_.overlap() != 1) {
    now_ = std::max(periods_.slow(compute_.ended_at(), host_.overlap()), compute_.ended_at());
    spans_.slow(periods_);
  }
  now_ += host_.per_step() * iterations_;
  rank_ ? spans_.add_rank(compute_, *rank_, now_, tail_.value) : spans_.add_compute(compute_, now_, tail_.value);
  // What is left of a difference may be below 0 by rounding.
  const auto rest = [](double seconds) { return Seconds(std::max(seconds, 0.0)); };
  return {.step = Seconds(now_) + tail_,
          .compute = timeline_.passes() * iterations_,
          .straggler = rest(compute_.passes() - timeline_.passes().value * iterations_),
          .slowdown = rest(compute_.slowed()),
          .exposed = rest(compute_.waited() + (now_ - compute_.ended_at())),
          .update = compute_.updates() + tail_,
          .alone = timeline_.step(),
          .communication = Seconds(periods_.total()),
          .buckets = periods_.buckets()};
}

}  // namespace hbench
