#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

#include "collectives/executors/endpoint.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/executors/wait.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

class Mpi final : public Executor {
 public:
  explicit Mpi(Seconds timeout) : timeout_(timeout), endpoint_(make_mpi_endpoint()) {}

  Timeline run(const Collective& collective) override {
    if (collective.operands.size() != 1) throw std::logic_error("mpi: this process has one rank and one buffer");
    std::unique_ptr<Operation> operation;
    if (collective.prepare || collective.schedule != nullptr) operation = prepare(collective);
    const std::string what = fmt::format("rank {}", endpoint_->transport().rank());
    meet(what);
    const auto begin = Clock::now();
    // The library's own begins when it is made, so not before the clock.
    if (operation == nullptr) operation = endpoint_->vendor(Goal::all_reduce, collective.operands.front());
    wait_for(*operation, timeout_, what);
    const std::chrono::duration<double> taken = Clock::now() - begin;
    return {{Seconds(taken.count())}};
  }

 private:
  std::unique_ptr<Operation> prepare(const Collective& collective) {
    const Operand& operand = collective.operands.front();
    if (collective.prepare) return collective.prepare(*endpoint_, operand);
    return endpoint_->prepare(*collective.schedule, operand, collective.encoding.codec);
  }

  /// The ranks begin together: an all-reduce ends nowhere before it has begun everywhere.
  void meet(const std::string& what) {
    float nothing = 0;
    wait_for(*endpoint_->vendor(Goal::all_reduce, Operand::of({&nothing, 1})), timeout_, what);
  }

  Seconds timeout_;
  std::unique_ptr<Endpoint> endpoint_;
};

}  // namespace

extern const ExecutorKind kMpiExecutor;
constinit const ExecutorKind kMpiExecutor{
    .name = "mpi",
    .summary = "every rank is a process; messages travel by MPI",
    .evidence = "measured",
    .limits = "messages below 2 GiB; MPI's own collectives: neither float16 nor bfloat16",
    .availability = mpi_availability,
    .make = [](const Profile*, Seconds timeout) -> std::unique_ptr<Executor> { return std::make_unique<Mpi>(timeout); },
};

}  // namespace hbench
