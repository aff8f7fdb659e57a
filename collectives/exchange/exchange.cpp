#include "collectives/exchange/exchange.hpp"

#include <stdexcept>

#include "collectives/base/error.hpp"
#include "collectives/exchange/exchange_parts.hpp"

namespace hbench {

ElementRange part_of_place(Endpoint& endpoint, const AlgorithmChoice& algorithm, const World& world,
                           const RankGroups& groups, std::int64_t elements, int place) {
  const ExchangeRequest within{.world = world, .groups = groups};
  const int parts = within.among().workers;
  if (algorithm.algorithm->is_vendor()) return {place * elements / parts, (place + 1) * elements / parts};
  const Schedule& schedule =
      schedule_of(endpoint, within, algorithm, static_cast<std::size_t>(elements) * sizeof(float));
  const int chunks = schedule.chunks / parts;
  return schedule.range(place * chunks, chunks, elements);
}

ElementRange own_part(Endpoint& endpoint, const AlgorithmChoice& algorithm, const World& world,
                      const RankGroups& groups, std::span<const float> buffer) {
  return part_of_place(endpoint, algorithm, world, groups, std::ssize(buffer),
                       groups.place(endpoint.transport().rank(), world.workers));
}

std::unique_ptr<Operation> prepare_exchange(Endpoint& endpoint, const ExchangeRequest& asked) {
  const Operand& operand = asked.operand;
  const std::string refusal =
      refuse_exchange(asked.algorithm, asked.compressor, operand.type, operand.op, asked.among());
  if (!refusal.empty()) throw Error(ExitCode::usage, refusal, "see hbench list algorithms and hbench list compressors");
  if (!asked.groups.all() && (asked.algorithm.algorithm->is_vendor() || operand.op == ReduceOp::average))
    throw Error(ExitCode::usage, "within groups of ranks are sums alone, and no library's own collectives",
                "choose ring and sum");
  if (asked.algorithm.algorithm->is_vendor()) return endpoint.vendor(asked.algorithm.algorithm->collective, operand);

  if (asked.compressor.verbatim())
    return endpoint.prepare(schedule_of(endpoint, asked, asked.algorithm, operand.buffer.size(), asked.shards), operand,
                            nullptr);
  Device& device = endpoint.device();
  if (const std::string why = refuse_device(device, asked.compressor); !why.empty())
    throw Error(ExitCode::usage, why, "choose another compressor, or an executor in host memory");
  ExchangeRequest request = asked;
  if (request.memory == nullptr)
    request.memory = std::make_shared<ExchangeMemory>(request.compressor, operand.elements(), 1, device);
  if (&request.memory->device != &device) throw std::logic_error("the memory of an exchange is on another device");
  if (request.compressor.both_sides) return prepare_both_sides(endpoint, request);
  switch (request.compressor.compressor->exchange) {
    case Exchange::gather:
      return &device == &host_device() ? prepare_gather(endpoint, request) : prepare_fixed_gather(endpoint, request);
    case Exchange::low_rank:
      return prepare_low_rank(endpoint, request);
    case Exchange::per_hop:
      break;
  }
  return prepare_per_hop(endpoint, request);
}

}  // namespace hbench
