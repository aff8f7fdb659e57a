#include "workloads/engine/worker.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "workloads/engine/communicator.hpp"
#include "workloads/engine/phase.hpp"

namespace hbench {
namespace {

using Clock = Handover::Clock;

/// Ranks build their models at different speeds, and servers build none.
constexpr Seconds kSetupTimeout{120};

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

void backward(Replica& replica, bool overlap, Handover& handover) {
  if (overlap) {
    replica.backward([&](int tensor) { handover.announce(tensor); });
    return;
  }
  std::vector<int> ready;
  replica.backward([&](int tensor) { ready.push_back(tensor); });
  for (const int tensor : ready) handover.announce(tensor);
}

}  // namespace

void train_alone(Replica& replica, const TrainingRequest& request, const OnStep& on_step) {
  JobProgress progress;
  const auto job_begin = Clock::now();
  auto begin = job_begin;
  for (Phase phase = next_phase(request, progress); phase != Phase::stop; phase = next_phase(request, progress)) {
    const double loss = replica.forward(progress.steps);
    replica.backward({});
    replica.apply(request.learning_rate);
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
  const GradientLayout own = replica.record_layout();
  const GradientLayout layout = share_layout(&own, endpoint.transport(), setup_timeout(request));
  replica.lay_out(layout);
  Communicator communicator(request, endpoint, layout, replica.gradients());
  Handover handover;
  const CommunicationThread thread(communicator, handover);
  // The buffer holds the sum over all workers.
  const double rate = request.learning_rate / request.world.workers;
  Phase phase = next_phase(request, {});
  auto begin = Clock::now();
  for (int step = 0; phase != Phase::stop; ++step) {
    handover.begin_step(begin);
    const double loss = replica.forward(step);
    backward(replica, request.overlap, handover);
    const auto computed = Clock::now();
    const Phase next = handover.wait_for_step_end();
    const Seconds exposed = between(computed, Clock::now());
    replica.apply(rate);
    const auto end = Clock::now();
    on_step({.iteration = step,
             .warmup = phase == Phase::warmup,
             .step = between(begin, end),
             .exposed = exposed,
             .loss = loss});
    phase = next;
    begin = end;
  }
}

void serve(const TrainingRequest& request, Endpoint& endpoint) {
  const GradientLayout layout = share_layout(nullptr, endpoint.transport(), setup_timeout(request));
  std::vector<float> gradients(static_cast<std::size_t>(layout.total()));
  Communicator(request, endpoint, layout, gradients).serve();
}

}  // namespace hbench
