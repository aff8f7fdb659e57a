#include "collectives/executors/endpoint.hpp"

#include "collectives/base/error.hpp"
#include "collectives/executors/rank_program.hpp"

namespace hbench {
namespace {

/// Tags that are reserved begin here; lower ones are their owner's.
constexpr int kFirstTag = 20000;
constexpr int kTags = 8192;
constexpr std::size_t kCacheLine = 64;

}  // namespace

std::span<std::byte> Endpoint::allocate(std::size_t bytes) {
  const std::size_t size = (bytes + kCacheLine - 1) / kCacheLine * kCacheLine + kCacheLine;
  memory_.push_back(std::make_unique<std::byte[]>(size));
  void* at = memory_.back().get();
  std::size_t space = size;
  return {static_cast<std::byte*>(std::align(kCacheLine, bytes, at, space)), bytes};
}

int Endpoint::reserve_tag() { return kFirstTag + reserved_++ % kTags; }

std::unique_ptr<Operation> Endpoint::prepare(const Schedule& schedule, const Operand& operand, const Codec* codec) {
  return std::make_unique<RankProgram>(plan_for(schedule, transport().rank()), codec, transport(), reserve_tag(),
                                       operand);
}

std::unique_ptr<Operation> Endpoint::vendor(Goal, const Operand&) {
  throw Error(ExitCode::usage, "there is no library, and so no all-reduce of its own, between threads",
              "choose another algorithm, or the executor mpi");
}

}  // namespace hbench
