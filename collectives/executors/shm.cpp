#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

#include "collectives/executors/endpoint.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/executors/wait.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

class Shm final : public Executor {
 public:
  explicit Shm(Seconds timeout) : timeout_(timeout), endpoint_(make_shm_endpoint(0)) {}

  Timeline run(const Collective& collective) override {
    if (collective.operands.size() != 1) throw std::logic_error("shm: this process has one rank and one buffer");
    const Operand& operand = collective.operands.front();
    std::unique_ptr<Operation> operation;
    if (collective.schedule != nullptr)
      operation = endpoint_->prepare(*collective.schedule, operand, collective.encoding.codec);
    const std::string what = fmt::format("rank {}", endpoint_->transport().rank());
    meet(what);
    const auto begin = Clock::now();
    // The library's own begins when it is made, so not before the clock.
    if (operation == nullptr) operation = endpoint_->vendor(Goal::all_reduce, operand);
    wait_for(*operation, timeout_, what);
    const std::chrono::duration<double> taken = Clock::now() - begin;
    return {{Seconds(taken.count())}};
  }

 private:
  /// The ranks begin together: an all-reduce ends nowhere before it has begun everywhere.
  void meet(const std::string& what) {
    float nothing = 0;
    wait_for(*endpoint_->vendor(Goal::all_reduce, Operand::of({&nothing, 1})), timeout_, what);
  }

  Seconds timeout_;
  std::unique_ptr<Endpoint> endpoint_;
};

}  // namespace

extern const ExecutorKind kShmExecutor;
constinit const ExecutorKind kShmExecutor{
    .name = "shm",
    .summary = "every rank is a process; ranks of one host read each other's buffers, hosts exchange messages by MPI",
    .evidence = "measured",
    .limits = "ranks of one host are processes of one user, who sees them in /proc",
    .availability = shm_availability,
    .make = [](const Profile*, Seconds timeout) -> std::unique_ptr<Executor> { return std::make_unique<Shm>(timeout); },
};

}  // namespace hbench
