#include <fmt/format.h>

#include <barrier>
#include <chrono>
#include <exception>
#include <thread>

#include "collectives/executors/endpoint_executor.hpp"
#include "collectives/executors/wait.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

/// What one rank brings along and leaves behind. Operations outlive all threads: a peer may still be reading
/// from one that has failed.
struct Participant {
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Operation> operation;
  Clock::time_point finish;
  std::exception_ptr failure;
};

std::vector<Participant> prepare(const Collective& collective) {
  std::vector<std::unique_ptr<Endpoint>> endpoints =
      make_thread_endpoints(static_cast<int>(collective.operands.size()));
  std::vector<Participant> participants(collective.operands.size());
  for (std::size_t i = 0; i < participants.size(); ++i) {
    Participant& participant = participants[i];
    participant.endpoint = std::move(endpoints[i]);
    participant.operation = prepare_part(collective, *participant.endpoint, collective.operands[i]);
  }
  return participants;
}

class Threads final : public Executor {
 public:
  explicit Threads(Seconds timeout) : timeout_(timeout) {}

  Timeline run(const Collective& collective) override {
    std::vector<Participant> participants = prepare(collective);
    const Clock::time_point begin = run_all(participants);
    Timeline timeline;
    for (const Participant& participant : participants) {
      if (participant.failure) std::rethrow_exception(participant.failure);
      timeline.finish.emplace_back(std::chrono::duration<double>(participant.finish - begin).count());
    }
    return timeline;
  }

 private:
  /// Returns when the ranks were released.
  Clock::time_point run_all(std::vector<Participant>& participants) const {
    Clock::time_point begin;
    std::barrier start(static_cast<std::ptrdiff_t>(participants.size()), [&]() noexcept { begin = Clock::now(); });
    std::vector<std::jthread> threads;
    for (Participant& participant : participants) {
      threads.emplace_back([&, this] {
        start.arrive_and_wait();
        try {
          wait_for(*participant.operation, timeout_, fmt::format("rank {}", participant.endpoint->transport().rank()));
        } catch (...) {
          participant.failure = std::current_exception();
        }
        participant.finish = Clock::now();
      });
    }
    threads.clear();
    return begin;
  }

  Seconds timeout_;
};

}  // namespace

extern const ExecutorKind kThreadsExecutor;
constinit const ExecutorKind kThreadsExecutor{
    .name = "threads",
    .summary = "every rank is a thread of this process; a receiver reads its sender's memory",
    .evidence = "measured",
    .limits = "ranks of one process; no library's own collectives",
    .availability = [] { return Availability{}; },
    .make = [](const Profile*, Seconds timeout) -> std::unique_ptr<Executor> {
      return std::make_unique<Threads>(timeout);
    },
};

}  // namespace hbench
