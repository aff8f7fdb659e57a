#include "collectives/executors/exchange.hpp"

#include "collectives/base/error.hpp"
#include "collectives/executors/exchange_parts.hpp"

namespace hbench {

ExchangeMemory::ExchangeMemory(const CompressorChoice& compressor, std::int64_t elements, std::uint64_t with_seed)
    : seed(with_seed), gradient(compressor.make_memory(elements)) {
  if (compressor.compressor->exchange == Exchange::low_rank)
    factors.emplace(make_low_rank_state(compressor, elements, seed));
}

std::unique_ptr<Operation> prepare_exchange(Endpoint& endpoint, const ExchangeRequest& asked) {
  const Operand& operand = asked.operand;
  const std::string refusal = refuse_exchange(asked.algorithm, asked.compressor, operand.type, operand.op, asked.world);
  if (!refusal.empty()) throw Error(ExitCode::usage, refusal, "see hbench list algorithms and hbench list compressors");
  if (asked.algorithm.algorithm->opaque()) return endpoint.vendor(asked.algorithm.algorithm->goal, operand);

  if (asked.compressor.verbatim())
    return endpoint.prepare(schedule_of(endpoint, asked, asked.algorithm, operand.buffer.size(), asked.shards), operand,
                            nullptr);
  ExchangeRequest request = asked;
  if (request.memory == nullptr)
    request.memory = std::make_shared<ExchangeMemory>(request.compressor, operand.elements());
  switch (request.compressor.compressor->exchange) {
    case Exchange::gather:
      return prepare_gather(endpoint, request);
    case Exchange::low_rank:
      return prepare_low_rank(endpoint, request);
    case Exchange::per_hop:
      break;
  }
  return prepare_per_hop(endpoint, request);
}

}  // namespace hbench
