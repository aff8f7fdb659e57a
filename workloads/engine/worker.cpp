#include "workloads/engine/worker.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "collectives/transport/wait.hpp"
#include "workloads/engine/communicator.hpp"
#include "workloads/engine/loss_scale.hpp"
#include "workloads/engine/phase.hpp"
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

/// The forward pass of a step's last micro-batch, and before it all of the others, whose gradients stay here.
void forward(Compute& compute, const TrainingRequest& request, int step, double scale) {
  const int first = step * request.micro_batches;
  for (int i = 0; i + 1 < request.micro_batches; ++i) {
    compute.forward(first + i);
    compute.backward({}, scale);
    compute.add_gradients(true);
  }
  compute.forward(first + request.micro_batches - 1);
}

/// A test's delay is of the backward pass: what the device has left of the forward pass hides nothing of it.
void delay_backward(const TrainingRequest& request, Rank rank, Device& device) {
  if (rank != request.delay.rank) return;
  synchronize(device);
  request.delay.sleep(rank);
}

/// One step's gradients of this worker.
void backward(Compute& compute, bool overlap, double scale, Handover& handover) {
  if (overlap) {
    compute.backward([&](int tensor) { handover.announce(tensor, compute.device().record_event()); }, scale);
    return;
  }
  std::vector<int> ready;
  compute.backward([&](int tensor) { ready.push_back(tensor); }, scale);
  synchronize(compute.device());
  for (const int tensor : ready) handover.announce(tensor);
}

/// `gradients`, times `scale`, are the sum over `batches`: one of each micro-batch of each worker.
void apply(Compute& compute, double rate, int batches, LossScale& scale) {
  const double scaled_by = scale.value();
  if (scale.update(!scale.scales() || compute.gradients_are_finite())) compute.apply(rate / batches / scaled_by);
}

/// Whether the sum of all gradients is this rank's own, bit by bit.
bool reduces_nothing(const TrainingRequest& request) {
  return request.world.ranks() == 1 && request.strategy.compressor.verbatim();
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

std::span<float> gradient_memory(Endpoint& endpoint, const GradientLayout& layout) {
  const auto elements = static_cast<std::size_t>(layout.total());
  const std::span<std::byte> memory = endpoint.allocate(elements * sizeof(float));
  synchronize(endpoint.device());
  return {reinterpret_cast<float*>(memory.data()), elements};
}

}  // namespace

void train_alone(Compute& compute, const TrainingRequest& request, const OnStep& on_step) {
  JobProgress progress;
  LossScale scale = loss_scale_of(request);
  StepTrace trace(0, Lane::compute, compute.device());
  if (request.strategy.on_gpu) compute.warm_up();
  const auto job_begin = Clock::now();
  auto begin = job_begin;
  for (Phase phase = next_phase(request, progress); phase != Phase::stop; phase = next_phase(request, progress)) {
    if (phase == Phase::traced) trace.begin();
    forward(compute, request, progress.steps, scale.value());
    trace.lap(SpanKind::forward);
    delay_backward(request, 0, compute.device());
    compute.backward({}, scale.value());
    compute.add_gradients(false);
    trace.lap(SpanKind::backward);
    apply(compute, request.learning_rate, request.micro_batches, scale);
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
  }
}

void train_together(Compute& compute, const TrainingRequest& request, Endpoint& endpoint, const OnStep& on_step,
                    const std::function<void(const Handover&)>& begin_job) {
  if (reduces_nothing(request)) return train_alone(compute, request, on_step);
  const Rank rank = endpoint.transport().rank();
  const GradientLayout own = compute.record_layout();
  const GradientLayout layout = share_layout(&own, endpoint.control(), setup_timeout(request));
  const std::span<float> gradients = gradient_memory(endpoint, layout);
  compute.lay_out(layout, gradients);
  if (request.strategy.on_gpu) compute.warm_up();
  Communicator communicator(request, endpoint, layout, gradients);
  Handover handover(communicator.doorbell());
  if (begin_job) begin_job(handover);
  const CommunicationThread thread(communicator, handover);
  LossScale scale = loss_scale_of(request);
  StepTrace trace(rank, Lane::compute, compute.device());
  Phase phase = next_phase(request, {});
  auto begin = Clock::now();
  for (int step = 0; phase != Phase::stop; ++step) {
    const bool traced = phase == Phase::traced;
    handover.begin_step({begin, traced});
    if (traced) trace.begin();
    forward(compute, request, step, scale.value());
    trace.lap(SpanKind::forward);
    delay_backward(request, rank, compute.device());
    backward(compute, request.strategy.overlap, scale.value(), handover);
    handover.end_compute();
    compute.add_gradients(false);
    synchronize(compute.device());
    const auto computed = Clock::now();
    trace.lap(SpanKind::backward);
    const StepEnd reduced = handover.wait_for_step_end();
    synchronize(endpoint.device(), reduced.reduced);
    const Seconds exposed = between(computed, Clock::now());
    trace.lap(SpanKind::wait);
    apply(compute, request.learning_rate, request.world.workers * request.micro_batches, scale);
    const double loss = compute.loss();
    trace.lap(SpanKind::optimizer);
    const auto end = Clock::now();
    std::vector<Span> spans;
    if (traced) spans = end_trace(trace, begin, end, communicator.end_trace());
    on_step({.iteration = step,
             .warmup = phase == Phase::warmup,
             .step = between(begin, end),
             .exposed = exposed,
             .loss = loss,
             .spans = spans});
    phase = reduced.next;
    begin = end;
  }
}

void serve(const TrainingRequest& request, Endpoint& endpoint) {
  const GradientLayout layout = share_layout(nullptr, endpoint.control(), setup_timeout(request));
  Communicator(request, endpoint, layout, gradient_memory(endpoint, layout)).serve();
}

}  // namespace hbench
