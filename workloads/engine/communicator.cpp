#include "workloads/engine/communicator.hpp"

#include <thread>

namespace hbench {
namespace {

/// How long the thread sleeps between two looks while this rank computes. Every look takes 15 us of the
/// core on a virtual machine, and delays that end before the backward pass cost nothing.
constexpr std::chrono::microseconds kBucketsInFlight{100};
constexpr std::chrono::microseconds kNothingInFlight{300};
/// No bucket can leave before this worker's first gradient; only to see whether the others are well.
constexpr std::chrono::milliseconds kNothingAnnounced{20};

/// A server that has nothing to do for so many looks leaves its core to workers that compute.
constexpr int kPatience = 200;
constexpr std::chrono::microseconds kNap{50};

}  // namespace

Communicator::Communicator(const TrainingRequest& request, Endpoint& endpoint, const GradientLayout& layout,
                           std::span<float> gradients)
    : patience_(request.timeout * (endpoint.transport().rank() == 0 ? 1 : kMorePatience)),
      device_(endpoint.device()),
      role_(endpoint.transport().rank() == 0 ? make_leader(request, endpoint.control(), layout)
                                             : make_follower(request, endpoint.control())),
      reducer_(request, endpoint, layout, gradients) {}

void Communicator::run(Handover& handover) noexcept {
  try {
    while (const auto begun = handover.wait_for_step()) {
      role_->begin_step(*begun);
      reducer_.begin_step();
      step(handover);
    }
  } catch (...) {
    handover.fail(std::current_exception());
  }
}

void Communicator::step(Handover& handover) {
  int completed = 0;
  bool announced = false;
  while (true) {
    const std::vector<int> ready = handover.take(device_);
    announced = announced || !ready.empty();
    role_->announce(ready);
    completed = pass(completed);
    if (role_->all_launched() && reducer_.in_flight() == 0) break;
    if (completed > 0) continue;
    const auto nap = reducer_.in_flight() > 0 ? kBucketsInFlight : kNothingInFlight;
    if (!handover.rest(announced ? nap : kNothingAnnounced)) return;
  }
  ++step_;
  handover.end_step({role_->next(), device_.mark()});
  if (role_->next() == Phase::stop) role_->finish();
}

void Communicator::serve() {
  do {
    role_->begin_step(Role::Clock::now());
    reducer_.begin_step();
    int completed = 0;
    int idle = 0;
    do {
      completed = pass(completed);
      idle = completed > 0 ? 0 : idle + 1;
      if (idle > kPatience) {
        std::this_thread::sleep_for(kNap);
      } else {
        std::this_thread::yield();
      }
    } while (!role_->all_launched() || reducer_.in_flight() > 0);
    ++step_;
  } while (role_->next() != Phase::stop);
  role_->finish();
}

/// One look at everything; `completed` is what the look before has completed, the result what this one has.
int Communicator::pass(int completed) {
  for (Bucket& bucket : role_->poll(completed, reducer_.in_flight())) reducer_.launch(std::move(bucket));
  const int now_completed = reducer_.progress();
  if (now_completed == 0) check_late();
  return now_completed;
}

void Communicator::check_late() {
  const Operation* late = reducer_.late(patience_);
  if (late == nullptr) return;
  role_->blame_missing();
  role_->give_up(late->waiting_ranks());
  throw late_ranks(step_, patience_, late->waiting_for());
}

}  // namespace hbench
