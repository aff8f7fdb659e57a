#include "workloads/engine/worker.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "collectives/transport/wait.hpp"
#include "workloads/engine/communicator.hpp"
#include "workloads/engine/loss_scale.hpp"
#include "workloads/engine/phase.hpp"

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

/// One step's gradients of this worker.
void backward(Replica& replica, bool overlap, double scale, Handover& handover) {
  if (overlap) {
    replica.backward([&](int tensor) { handover.announce(tensor, replica.device().record_event()); }, scale);
    return;
  }
  std::vector<int> ready;
  replica.backward([&](int tensor) { ready.push_back(tensor); }, scale);
  synchronize(replica.device());
  for (const int tensor : ready) handover.announce(tensor);
}

/// `gradients`, times `scale`, are the sum over `workers`.
void apply(Replica& replica, double rate, int workers, LossScale& scale) {
  const double scaled_by = scale.value();
  if (scale.update(!scale.scales() || replica.gradients_are_finite())) replica.apply(rate / workers / scaled_by);
}

/// Whether the sum of all gradients is this rank's own, bit by bit.
bool reduces_nothing(const TrainingRequest& request) {
  return request.world.ranks() == 1 && request.strategy.compressor.verbatim();
}

LossScale loss_scale_of(const TrainingRequest& request) {
  return LossScale(request.strategy.precision == Precision::fp16);
}

std::span<float> gradient_memory(Endpoint& endpoint, const GradientLayout& layout) {
  const auto elements = static_cast<std::size_t>(layout.total());
  const std::span<std::byte> memory = endpoint.allocate(elements * sizeof(float));
  synchronize(endpoint.device());
  return {reinterpret_cast<float*>(memory.data()), elements};
}

}  // namespace

void train_alone(Replica& replica, const TrainingRequest& request, const OnStep& on_step) {
  JobProgress progress;
  LossScale scale = loss_scale_of(request);
  if (request.strategy.on_gpu) replica.rehearse();
  const auto job_begin = Clock::now();
  auto begin = job_begin;
  for (Phase phase = next_phase(request, progress); phase != Phase::stop; phase = next_phase(request, progress)) {
    replica.forward(progress.steps);
    replica.backward({}, scale.value());
    apply(replica, request.learning_rate, 1, scale);
    const double loss = replica.loss();
    const auto end = Clock::now();
    on_step({.iteration = progress.steps,
             .warmup = phase == Phase::warmup,
             .step = between(begin, end),
             .exposed = Seconds(0),
             .loss = loss});
    progress.count(phase);
    progress.elapsed = between(job_begin, end);
    begin = end;
  }
}

void train_together(Replica& replica, const TrainingRequest& request, Endpoint& endpoint, const OnStep& on_step) {
  if (reduces_nothing(request)) return train_alone(replica, request, on_step);
  const GradientLayout own = replica.record_layout();
  const GradientLayout layout = share_layout(&own, endpoint.control(), setup_timeout(request));
  const std::span<float> gradients = gradient_memory(endpoint, layout);
  replica.lay_out(layout, gradients);
  if (request.strategy.on_gpu) replica.rehearse();
  Communicator communicator(request, endpoint, layout, gradients);
  Handover handover(communicator.doorbell());
  const CommunicationThread thread(communicator, handover);
  LossScale scale = loss_scale_of(request);
  Phase phase = next_phase(request, {});
  auto begin = Clock::now();
  for (int step = 0; phase != Phase::stop; ++step) {
    handover.begin_step(begin);
    replica.forward(step);
    backward(replica, request.strategy.overlap, scale.value(), handover);
    handover.end_compute();
    synchronize(replica.device());
    const auto computed = Clock::now();
    const StepEnd reduced = handover.wait_for_step_end();
    synchronize(endpoint.device(), reduced.reduced);
    const Seconds exposed = between(computed, Clock::now());
    apply(replica, request.learning_rate, request.world.workers, scale);
    const double loss = replica.loss();
    const auto end = Clock::now();
    on_step({.iteration = step,
             .warmup = phase == Phase::warmup,
             .step = between(begin, end),
             .exposed = exposed,
             .loss = loss});
    phase = reduced.next;
    begin = end;
  }
}

void serve(const TrainingRequest& request, Endpoint& endpoint) {
  const GradientLayout layout = share_layout(nullptr, endpoint.control(), setup_timeout(request));
  Communicator(request, endpoint, layout, gradient_memory(endpoint, layout)).serve();
}

}  // namespace hbench
