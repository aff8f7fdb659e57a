#include "workloads/engine/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "collectives/transport/transport.hpp"
#include "workloads/engine/communicator.hpp"
#include "workloads/engine/loss_scale.hpp"
#include "workloads/engine/means.hpp"
#include "workloads/engine/negotiator.hpp"
#include "workloads/engine/step_trace.hpp"

namespace hbench {
namespace {

using Clock = Handover::Clock;

Seconds setup_timeout(const TrainingRequest& request) { return std::max(request.timeout, kSetupTimeout); }

Seconds between(Clock::time_point begin, Clock::time_point end) {
  return Seconds(std::chrono::duration<double>(end - begin).count());
}

/// The communication thread's life: ends when the compute thread leaves, however that is.
class CommunicationThread {
 public:
  CommunicationThread(Communicator& communicator, Handover& handover)
      : handover_(handover), thread_([&] { communicator.run(handover); }) {}
  ~CommunicationThread() { handover_.close(); }
  CommunicationThread(const CommunicationThread&) = delete;
  CommunicationThread& operator=(const CommunicationThread&) = delete;

 private:
  Handover& handover_;
  std::jthread thread_;
};

/// Adds up what a worker sends in its timed steps, as `TrainingEnd::sent`. Used by one thread, while no other uses the
/// endpoint.
class SentBytes {
 public:
  /// Both outlive it.
  SentBytes(const TrainingRequest& request, Endpoint& endpoint) : request_(request), endpoint_(endpoint) {}

  /// A timed cycle of the plan begins, and ends.
  void begin() { before_ = so_far(); }
  void end(int iterations) {
    sum_ += so_far() * 1.0;
    sum_ += before_ * -1.0;
    iterations_ += iterations;
  }

  std::optional<Moved> per_iteration() const {
    if (iterations_ == 0 || request_.strategy.algorithm.is_vendor()) return std::nullopt;
    return sum_ * (1.0 / iterations_);
  }

 private:
  Moved so_far() const {
    const ByteCounts& counts = endpoint_.byte_counts();
    const Rank own = endpoint_.transport().rank();
    Moved moved;
    for (Rank rank = 0; rank < request_.world.ranks(); ++rank) {
      const std::int64_t bytes = counts.sent_to(rank) + counts.fetched_from(rank);
      (request_.node_of(rank) == request_.node_of(own) ? moved.within : moved.between) += static_cast<double>(bytes);
    }
    return moved;
  }

  const TrainingRequest& request_;
  Endpoint& endpoint_;
  Moved before_, sum_;
  int iterations_ = 0;
};

/// The forward pass of a step's last micro-batch, and before it all of the others, whose gradients stay here.
void forward(Compute& compute, const TrainingRequest& request, int step, double scale, StepTrace& trace) {
  const int first = step * request.micro_batches, last = first + request.micro_batches - 1;
  for (int batch = first;; ++batch) {
    if (compute.fetch(batch)) trace.lap(SpanKind::input);
    compute.forward(batch);
    if (batch == last) return trace.lap(SpanKind::forward);
    compute.backward({}, scale);
    compute.add_gradients(true);
    trace.lap(SpanKind::forward);
  }
}

/// Faults are of the backward pass: what the device has left of the forward pass hides nothing of them.
void strike(const TrainingRequest& request, Rank rank, int step, Device& device) {
  for (const PlantedFault& fault : request.faults) {
    if (!fault.is_due(rank, step)) continue;
    synchronize(device);
    fault.strike();
  }
}

/// Gradients, times `scale`, are the sum over `batches`. `own`: where this rank applies some alone; null: all.
void apply(Compute& compute, double rate, int batches, LossScale& scale,
           const std::vector<ElementRange>* own = nullptr) {
  const double divisor = batches * scale.value();
  if (!scale.update(!scale.scales() || compute.gradients_are_finite())) return;
  own == nullptr ? compute.apply(rate, divisor) : compute.apply_parts(rate, divisor, *own);
}

/// Whether the sum of all gradients is this rank's own, bit by bit, and the optimizer's step all that follows.
bool reduces_nothing(const TrainingRequest& request, const StepPlan& plan) {
  return request.world.ranks() == 1 && request.strategy.compressor.verbatim() && !plan.outer && !carries_momenta(plan);
}

LossScale loss_scale_of(const TrainingRequest& request) {
  return LossScale(request.strategy.precision == Precision::fp16);
}

/// The spans of a traced step: those of the compute thread, which has ended it, with `others`.
std::vector<Span> end_trace(StepTrace& trace, Clock::time_point begin, Clock::time_point end,
                            std::vector<Span> others = {}) {
  trace.add(SpanKind::step, begin, end);
  std::vector<Span> spans = trace.end();
  spans.insert(spans.end(), others.begin(), others.end());
  return spans;
}

std::span<float> memory_for(Endpoint& endpoint, const GradientLayout& layout) {
  const auto elements = static_cast<std::size_t>(layout.total());
  const std::span<std::byte> memory = endpoint.allocate(elements * sizeof(float));
  return {reinterpret_cast<float*>(memory.data()), elements};
}

ModelMemory model_memory(Endpoint& endpoint, const GradientLayout& layout, const StepPlan& plan) {
  ModelMemory memory{.gradients = memory_for(endpoint, layout), .parameters = {}};
  if (carries_parameters(plan)) memory.parameters = memory_for(endpoint, layout);
  if (takes_means_with_some(plan)) memory.means = memory_for(endpoint, layout);
  if (deltas_lie_apart(plan)) memory.deltas = memory_for(endpoint, layout);
  synchronize(endpoint.device());
  return memory;
}

/// Walks the plan on the compute thread of a worker, iteration by iteration.
class PlanWalk {
 public:
  /// Everything given outlives it.
  PlanWalk(const StepPlan& plan, Compute& compute, const TrainingRequest& request, Endpoint& endpoint,
           Handover& handover, StepTrace& trace, int tensors, const ModelMemory& memory)
      : plan_(plan),
        compute_(compute),
        request_(request),
        endpoint_(endpoint),
        handover_(handover),
        trace_(trace),
        tensors_(tensors),
        memory_(memory) {}

  /// Does iteration `step` of the job. Returns whether it has ended with what ranks exchange, in it or from one before.
  bool iterate(int step, Clock::time_point begin, bool traced) {
    step_ = step;
    if (exchanges_in(plan_, step_)) {
      end_.reset();
      own_.clear();
      handover_.begin_step({begin, step_, traced});
    }
    const bool ends = exchange_ends_in(plan_, step_);
    announced_ = announced_tasks(plan_, step_);
    for (int task = 0; task < plan_.size(); ++task)
      if (plan_.task(task).computes() && plan_.task(task).is_in(step_)) compute(task);
    if (ends && !end_) wait_for_step_end();
    if (end_) next_ = end_->next;
    return ends;
  }

  Phase next() const { return next_; }  ///< what follows the last iteration in which ranks exchanged something
  double loss() const { return loss_; }
  void walk(StateWalk& state) { scale_.walk(state); }
  /// Returns the time for which computing has waited, since the last call.
  Seconds take_exposed() { return std::exchange(exposed_, Seconds(0)); }

 private:
  void compute(int task) {
    for (const After& after : plan_.task(task).after) wait_for(after.task);
    switch (plan_.task(task).kind) {
      case TaskKind::forward:
        if (plan_.task(task).unit == Task::kWhole) {
          forward(compute_, request_, step_, scale_.value(), trace_);
        } else {
          compute_.by_units()->forward(step_, plan_.task(task).unit);
          trace_.lap(SpanKind::forward);
        }
        return announce_all(task);
      case TaskKind::backward:
        backward(task);
        return trace_.lap(SpanKind::backward);
      case TaskKind::apply:
        apply_gradients(task);
        return trace_.lap(SpanKind::optimizer);
      case TaskKind::delta:
        compute_.take_deltas(fragment(task));
        announce_all(task);
        return trace_.lap(SpanKind::optimizer);
      case TaskKind::outer:
        compute_.apply_deltas(fragment(task), request_.world.workers);
        return trace_.lap(SpanKind::optimizer);
      case TaskKind::collective:
        return;
    }
  }

  void backward(int task) {
    const int unit = plan_.task(task).unit;
    if (unit == Task::kWhole || unit + 1 == std::ssize(plan_.units))
      strike(request_, endpoint_.transport().rank(), step_, compute_.device());
    if (unit != Task::kWhole) {
      compute_.by_units()->backward(unit);
      return announce_all(task);
    }
    const auto announce = [&](int tensor) { handover_.announce(task, tensor, compute_.device().record_event()); };
    const bool one_by_one = is_announced(task) && feeds_by_tensor(plan_, task);
    const bool momenta = carries_momenta(plan_, step_);
    if (momenta) compute_.leave_momenta(request_.micro_batches);
    compute_.backward(one_by_one ? std::function<void(int)>(announce) : nullptr, scale_.value());
    if (!one_by_one) announce_all(task);
    compute_.add_gradients(false);
    if (momenta) compute_.leave_momenta(0);
  }

  void apply_gradients(int task) {
    if (!memory_.means.empty())
      compute_.device().copy(std::as_bytes(memory_.means), std::as_writable_bytes(memory_.parameters));
    const int workers = applies_sums(plan_, task, step_) ? request_.world.workers : 1;
    const double rate = request_.rate_at(step_, workers * request_.micro_batches);
    if (carries_momenta(plan_, step_))
      compute_.apply_momenta(rate, workers);
    else
      apply(compute_, rate, workers * request_.micro_batches, scale_, plan_.task(task).own_part ? &own_ : nullptr);
    announce_all(task);
    loss_ = compute_.loss();
  }

  /// Which of those that outer updates are of: without units the whole model.
  int fragment(int task) const { return std::max(0, plan_.task(task).unit); }
  bool is_announced(int task) const { return std::ranges::find(announced_, task) != announced_.end(); }
  void announce_all(int task) {
    if (!is_announced(task)) return;
    const Event done = compute_.device().record_event();
    for (const int tensor : plan_.tensors_of(task, tensors_)) handover_.announce(task, tensor, done);
  }

  void wait_for(int task) {
    if (plan_.task(task).computes() || !plan_.task(task).ends_in(step_) || end_) return;
    if (ends_step(plan_, task, step_ - plan_.task(task).lag)) return wait_for_step_end();
    wait([&] {
      const CollectiveEnd end = handover_.wait_for(task);
      own_.insert(own_.end(), end.own.begin(), end.own.end());
      return end.arrived;
    });
  }

  void wait_for_step_end() {
    wait([&] {
      end_ = handover_.wait_for_step_end();
      return end_->arrived;
    });
  }

  template <class Wait>
  void wait(Wait for_end) {
    handover_.end_compute();
    synchronize(compute_.device());
    const auto computed = Clock::now();
    synchronize(endpoint_.device(), for_end());
    const Seconds waited = between(computed, Clock::now());
    exposed_ += waited;
    if (compute_.by_units() != nullptr) compute_.by_units()->held_up(waited);
    trace_.lap(SpanKind::wait);
  }

  const StepPlan& plan_;
  Compute& compute_;
  const TrainingRequest& request_;
  Endpoint& endpoint_;
  Handover& handover_;
  StepTrace& trace_;
  int tensors_;
  ModelMemory memory_;
  LossScale scale_ = loss_scale_of(request_);
  int step_ = 0;                ///< of the job
  std::vector<int> announced_;  ///< tasks of this iteration that others wait for
  std::vector<ElementRange> own_;
  std::optional<StepEnd> end_;  ///< of the last exchange
  Phase next_ = Phase::stop;
  double loss_ = 0;
  Seconds exposed_;
};

/// What has to be the same in a job that goes on from another's state.
std::string in_words(const TrainingRequest& request) {
  const TrainingStrategy& strategy = request.strategy;
  return fmt::format("{} by {}, {}, {}, {}", request.own ? request.own->file : request.model, strategy.method.text(),
                     strategy.compressor.text(), strategy.trained_with().text(), entry_of(strategy.precision).name);
}

/// Null where there are none.
std::unique_ptr<Checkpoints> checkpoints_of(const TrainingRequest& request, Rank rank, const OnCheckpoint& report) {
  if (!request.checkpoint) return nullptr;
  return std::make_unique<Checkpoints>(*request.checkpoint, in_words(request), rank, request.world.workers, report);
}

/// The request of what is left of the job. \param transport null: this rank is alone
TrainingRequest going_on(TrainingRequest request, const StepPlan& plan, Checkpoints* checkpoints,
                         Transport* transport) {
  if (checkpoints == nullptr) return request;
  const CheckpointFound found = checkpoints->find(transport, setup_timeout(request));
  const bool as_many = found.steps == 0 || found.ranks == request.world.workers;
  if (!as_many && sharded(plan).optimizer)
    throw Error(ExitCode::usage,
                fmt::format("each of {} ranks has kept a part of the optimizer's state, and this job has {}",
                            found.ranks, request.world.workers),
                "go on with as many ranks as before");
  // A step of more ranks takes more of the data.
  const std::int64_t ranks = as_many || request.data.empty() ? request.world.workers : found.ranks;
  request.first_step = static_cast<int>(found.steps * ranks / request.world.workers) / plan.cycle() * plan.cycle();
  return request;
}

}  // namespace

void train_alone(Compute& compute, const TrainingRequest& asked, const OnStep& on_step,
                 const OnCheckpoint& on_checkpoint) {
  const StepPlan plan = asked.strategy.method.plan(asked.strategy.overlap);
  const std::unique_ptr<Checkpoints> checkpoints = checkpoints_of(asked, 0, on_checkpoint);
  const TrainingRequest request = going_on(asked, plan, checkpoints.get(), nullptr);
  JobProgress progress = begin_of(request, plan.start());
  LossScale scale = loss_scale_of(request);
  const Checkpoints::Walks walks{.shared =
                                     [&](StateWalk& state) {
                                       compute.walk(state);
                                       scale.walk(state);
                                     },
                                 .own = [](StateWalk&) {}};
  if (checkpoints) checkpoints->bring(walks, request.first_step);
  StepTrace trace(0, Lane::compute, compute.device());
  if (request.strategy.on_gpu) compute.warm_up();
  const auto job_begin = Clock::now();
  auto begin = job_begin;
  for (Phase phase = next_phase(request, progress); phase != Phase::stop; phase = next_phase(request, progress)) {
    if (phase == Phase::traced) trace.begin();
    forward(compute, request, progress.steps, scale.value(), trace);
    strike(request, 0, progress.steps, compute.device());
    compute.backward({}, scale.value());
    compute.add_gradients(false);
    trace.lap(SpanKind::backward);
    apply(compute, request.rate_at(progress.steps, request.micro_batches), request.micro_batches, scale);
    const double loss = compute.loss();
    trace.lap(SpanKind::optimizer);
    const auto end = Clock::now();
    std::vector<Span> spans;
    if (phase == Phase::traced) spans = end_trace(trace, begin, end);
    on_step({.iteration = progress.steps,
             .warmup = phase == Phase::warmup,
             .step = between(begin, end),
             .exposed = Seconds(0),
             .loss = loss,
             .spans = spans});
    progress.count(phase);
    progress.elapsed = between(job_begin, end);
    begin = end;
    if (!checkpoints) continue;
    checkpoints->see(progress.steps, walks);
    begin = Clock::now();
  }
  if (checkpoints) checkpoints->finish();
}

namespace {

/// What a worker's threads share.
struct Job {
  const TrainingRequest& request;
  Endpoint& endpoint;
  const StepPlan& plan;
  const GradientLayout& layout;
  const ModelMemory& memory;
  Checkpoints* checkpoints;  ///< null: there are none
};

StepPlan plan_of(const TrainingRequest& request, const GradientLayout& layout, std::vector<std::vector<int>> units) {
  return request.strategy.method.plan(request.strategy.overlap,
                                      {.elements = layout.elements, .units = std::move(units)});
}

/// All steps of the job, until no thread communicates any more. Returns what was counted in them.
TrainingEnd take_steps(Compute& compute, const Job& job, const OnStep& on_step,
                       const std::function<void(const Handover&)>& begin_job) {
  const StepPlan& plan = job.plan;
  Communicator communicator(job.request, job.endpoint, job.layout, plan, job.memory);
  Handover handover(communicator.doorbell());
  if (begin_job) begin_job(handover);
  const CommunicationThread thread(communicator, handover);
  StepTrace trace(job.endpoint.transport().rank(), Lane::compute, compute.device());
  PlanWalk walk(plan, compute, job.request, job.endpoint, handover, trace, job.layout.tensors(), job.memory);
  const Checkpoints::Walks walks{.shared =
                                     [&](StateWalk& state) {
                                       compute.walk(state);
                                       walk.walk(state);
                                     },
                                 .own = [&](StateWalk& state) { communicator.walk(state); }};
  if (job.checkpoints != nullptr) job.checkpoints->bring(walks, job.request.first_step);
  SentBytes sent(job.request, job.endpoint);
  Phase phase = next_phase(job.request, begin_of(job.request, plan.start()));
  auto begin = Clock::now();
  for (int cycle = job.request.first_step / plan.cycle(); phase != Phase::stop; ++cycle) {
    const bool traced = phase == Phase::traced;
    const auto cycle_begin = begin;
    std::vector<Span> exchanges;
    if (traced) trace.begin();
    if (phase == Phase::timed) sent.begin();
    for (int i = 0; i < plan.cycle(); ++i) {
      const bool exchanged = walk.iterate(cycle * plan.cycle() + i, begin, traced);
      begin = Clock::now();
      if (!traced || !exchanged) continue;
      const std::vector<Span> spans = communicator.end_trace();
      exchanges.insert(exchanges.end(), spans.begin(), spans.end());
    }
    if (phase == Phase::timed) sent.end(plan.cycle());
    std::vector<Span> spans;
    if (traced) spans = end_trace(trace, cycle_begin, begin, exchanges);
    const Seconds exposed = walk.take_exposed() / plan.cycle();
    if (phase != Phase::untimed)
      on_step({.iteration = cycle,
               .warmup = phase == Phase::warmup,
               .step = between(cycle_begin, begin) / plan.cycle(),
               .exposed = exposed,
               .loss = walk.loss(),
               .spans = spans});
    phase = walk.next();
    if (job.checkpoints == nullptr) continue;
    job.checkpoints->see((cycle + 1) * plan.cycle(), walks);
    begin = Clock::now();
  }
  if (job.checkpoints != nullptr) job.checkpoints->finish();
  return {.unseen = communicator.unseen(), .sent = sent.per_iteration()};
}

}  // namespace

TrainingEnd train_together(Compute& compute, const TrainingRequest& asked, Endpoint& endpoint, const OnStep& on_step,
                           const OnCheckpoint& on_checkpoint, const std::function<void(const Handover&)>& begin_job) {
  if (reduces_nothing(asked, asked.strategy.method.plan(asked.strategy.overlap))) {
    train_alone(compute, asked, on_step, on_checkpoint);
    return {.digest = compute.digest()};
  }
  const GradientLayout own = compute.record_layout();
  const GradientLayout layout = share_layout(&own, endpoint.control(), setup_timeout(asked));
  UnitPasses* const by_units = compute.by_units();
  const StepPlan plan = plan_of(asked, layout, by_units != nullptr ? by_units->units() : StepPlan().units);
  const std::unique_ptr<Checkpoints> checkpoints = checkpoints_of(asked, endpoint.transport().rank(), on_checkpoint);
  const TrainingRequest request = going_on(asked, plan, checkpoints.get(), &endpoint.control());
  const ModelMemory memory = model_memory(endpoint, layout, plan);
  compute.lay_out(layout, memory);
  if (plan.outer) compute.begin_outer(*plan.outer, fragments_of(plan, layout.tensors()));
  if (request.strategy.on_gpu) compute.warm_up();
  TrainingEnd end =
      take_steps(compute, {request, endpoint, plan, layout, memory, checkpoints.get()}, on_step, begin_job);
  if (takes_means_with_some(plan)) end.consensus_distance = take_common_mean(request, endpoint, memory);
  end.digest = compute.digest();
  return end;
}

void serve(const TrainingRequest& request, Endpoint& endpoint) {
  const GradientLayout layout = share_layout(nullptr, endpoint.control(), setup_timeout(request));
  const StepPlan plan = plan_of(request, layout, {});
  Communicator(request, endpoint, layout, plan, model_memory(endpoint, layout, plan)).serve();
}

}  // namespace hbench
