#include "collectives/executors/endpoint_executor.hpp"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

#include "collectives/executors/wait.hpp"

namespace hbench {
namespace {

class EndpointExecutor final : public Executor {
 public:
  EndpointExecutor(std::unique_ptr<Endpoint> endpoint, Seconds timeout)
      : timeout_(timeout),
        endpoint_(std::move(endpoint)),
        what_(fmt::format("rank {}", endpoint_->transport().rank())) {}

  Timeline run(const Collective& collective) override {
    using Clock = std::chrono::steady_clock;
    if (collective.operands.size() != 1) throw std::logic_error("this process has one rank and one buffer");
    const Operand& operand = collective.operands.front();
    const bool opaque = !collective.prepare && collective.schedule == nullptr;
    std::unique_ptr<Operation> operation;
    if (!opaque) operation = prepare_part(collective, *endpoint_, operand);
    meet();
    const auto begin = Clock::now();
    // The library's own begins when it is made, so not before the clock.
    if (opaque) operation = prepare_part(collective, *endpoint_, operand);
    wait_for(*operation, timeout_, what_);
    const std::chrono::duration<double> taken = Clock::now() - begin;
    return {{Seconds(taken.count())}};
  }

 private:
  /// An all-reduce ends nowhere before it has begun everywhere.
  void meet() {
    float nothing = 0;
    wait_for(*endpoint_->vendor(Goal::all_reduce, Operand::of({&nothing, 1})), timeout_, what_);
  }

  Seconds timeout_;
  std::unique_ptr<Endpoint> endpoint_;
  std::string what_;
};

}  // namespace

std::unique_ptr<Operation> prepare_part(const Collective& collective, Endpoint& endpoint, const Operand& operand) {
  if (collective.prepare) return collective.prepare(endpoint, operand);
  if (collective.schedule == nullptr) return endpoint.vendor(Goal::all_reduce, operand);
  return endpoint.prepare(*collective.schedule, operand, collective.encoding.codec);
}

std::unique_ptr<Executor> make_endpoint_executor(std::unique_ptr<Endpoint> endpoint, Seconds timeout) {
  return std::make_unique<EndpointExecutor>(std::move(endpoint), timeout);
}

}  // namespace hbench
