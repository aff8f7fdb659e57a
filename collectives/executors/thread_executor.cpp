#include "collectives/executors/thread_executor.hpp"

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
  Operand operand;  ///< where the rank's device works
  DeviceMemory memory;
  std::unique_ptr<Operation> operation;
  Clock::time_point finish;
  std::exception_ptr failure;
};

class ThreadExecutor final : public Executor {
 public:
  ThreadExecutor(Seconds timeout, EndpointFactory make_endpoints)
      : timeout_(timeout), make_endpoints_(make_endpoints) {}

  Timeline run(const Collective& collective) override {
    std::vector<Participant> participants = prepare(collective);
    const Clock::time_point begin = run_all(participants);
    Timeline timeline;
    for (std::size_t i = 0; i < participants.size(); ++i) {
      const Participant& participant = participants[i];
      if (participant.failure) std::rethrow_exception(participant.failure);
      timeline.finish.emplace_back(std::chrono::duration<double>(participant.finish - begin).count());
      if (participant.memory != nullptr)
        participant.endpoint->device().read(participant.operand.buffer, collective.operands[i].buffer);
    }
    return timeline;
  }

 private:
  std::vector<Participant> prepare(const Collective& collective) const {
    auto endpoints = make_endpoints_(static_cast<int>(collective.operands.size()));
    std::vector<Participant> participants(collective.operands.size());
    for (std::size_t i = 0; i < participants.size(); ++i) {
      Participant& participant = participants[i];
      participant.endpoint = std::move(endpoints[i]);
      participant.operand = collective.operands[i];
      if (&participant.endpoint->device() != &host_device()) move_to_device(participant);
      participant.operation = prepare_part(collective, *participant.endpoint, participant.operand);
    }
    return participants;
  }

  static void move_to_device(Participant& participant) {
    Device& device = participant.endpoint->device();
    const std::span<std::byte> host = participant.operand.buffer;
    participant.memory = device.allocate(host.size());
    participant.operand.buffer = {participant.memory.get(), host.size()};
    device.write(host, participant.operand.buffer);
  }

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
  EndpointFactory make_endpoints_;
};

}  // namespace

std::unique_ptr<Executor> make_thread_executor(Seconds timeout, EndpointFactory make_endpoints) {
  return std::make_unique<ThreadExecutor>(timeout, make_endpoints);
}

}  // namespace hbench
