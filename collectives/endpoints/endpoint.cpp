#include "collectives/endpoints/endpoint.hpp"

#include "collectives/base/error.hpp"
#include "collectives/program/rank_plan.hpp"
#include "collectives/program/rank_program.hpp"

namespace hbench {
namespace {

/// Tags that are reserved begin here; lower ones are their owner's.
constexpr int kFirstTag = 20000;
constexpr int kTags = 8192;

}  // namespace

std::span<std::byte> Endpoint::allocate(std::size_t bytes) {
  memory_.push_back(device().allocate(bytes));
  const std::span<std::byte> memory(memory_.back().get(), bytes);
  device().fill_neutral(DataType::uint8, ReduceOp::sum, memory);
  return memory;
}

int Endpoint::reserve_tag() { return kFirstTag + reserved_++ % kTags; }

std::unique_ptr<Operation> Endpoint::prepare(const Schedule& schedule, const Operand& operand, const Codec* codec) {
  return make_rank_program(plan_for(schedule, transport().rank()), codec, transport(), reserve_tag(), operand);
}

std::unique_ptr<Operation> Endpoint::vendor(CollectiveKind, const Operand&) {
  throw Error(ExitCode::usage, "there is no library, and so no all-reduce of its own, between threads",
              "choose another algorithm, or the executor mpi");
}

}  // namespace hbench
