#include <fmt/format.h>

#include <barrier>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <thread>

#include "collectives/base/error.hpp"
#include "collectives/executors/endpoint.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/executors/rank_program.hpp"
#include "collectives/executors/wait.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

/// What one rank brings along and leaves behind. Programs outlive all threads: a peer may still be copying
/// from one that has failed.
struct Participant {
  RankPlan plan;
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<RankProgram> program;
  Clock::time_point finish;
  std::exception_ptr failure;
};

std::vector<Participant> prepare(const Collective& collective) {
  const Schedule& schedule = *collective.schedule;
  const int ranks = schedule.world.ranks();
  if (collective.operands.size() != static_cast<std::size_t>(ranks)) {
    throw std::logic_error("threads: one buffer for every rank is needed");
  }
  std::vector<std::unique_ptr<Endpoint>> endpoints = make_thread_endpoints(ranks);
  std::vector<Participant> participants(collective.operands.size());
  for (std::size_t i = 0; i < participants.size(); ++i) {
    Participant& participant = participants[i];
    participant.plan = plan_for(schedule, static_cast<Rank>(i));
    participant.endpoint = std::move(endpoints[i]);
    participant.program = std::make_unique<RankProgram>(participant.plan, collective.encoding.codec,
                                                        participant.endpoint->transport(), 0, collective.operands[i]);
  }
  return participants;
}

class Threads final : public Executor {
 public:
  explicit Threads(Seconds timeout) : timeout_(timeout) {}

  Timeline run(const Collective& collective) override {
    if (collective.schedule == nullptr) {
      throw Error(ExitCode::usage, "there is no library, and so no all-reduce of its own, between threads",
                  "choose another algorithm, or the executor mpi");
    }
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
          wait_for(*participant.program, timeout_, fmt::format("rank {}", participant.plan.rank));
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
    .summary = "every rank is a thread of this process; messages are copied through memory",
    .evidence = "measured",
    .availability = [] { return Availability{}; },
    .make = [](const Profile*, Seconds timeout) -> std::unique_ptr<Executor> {
      return std::make_unique<Threads>(timeout);
    },
};

}  // namespace hbench
