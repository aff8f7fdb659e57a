#include "workloads/engine/consensus.hpp"

#include <cmath>
#include <vector>

#include "collectives/exchange/exchange.hpp"
#include "collectives/transport/transport.hpp"
#include "workloads/engine/messages.hpp"
#include "workloads/optimizers/numbers.hpp"

namespace hbench {
namespace {

constexpr std::string_view kTakingMean = "taking the mean of all workers' parameters";

double sum_of_squares(std::span<const float> numbers) {
  double sum = 0;
  for (const float each : numbers) sum += static_cast<double>(each) * each;
  return sum;
}

/// On rank 0 the sum over all workers.
std::optional<double> sum_on_first(double own, const TrainingRequest& request, Transport& transport) {
  if (transport.rank() != 0) {
    Outbox outbox(transport);
    outbox.send(0, kConsensusTag, own);
    flush(outbox, request.timeout, kTakingMean);
    return std::nullopt;
  }
  for (Rank rank = 1; rank < request.world.workers; ++rank) {
    double other = 0;
    receive_now(transport, rank, kConsensusTag, as_message(other), request.timeout, kTakingMean);
    own += other;
  }
  return own;
}

}  // namespace

std::optional<double> take_common_mean(const TrainingRequest& request, Endpoint& endpoint, const ModelMemory& memory) {
  Device& device = endpoint.device();
  const DeviceNumbers parameters(memory.parameters, device);
  DeviceNumbers before(memory.means, device);
  before.assign(parameters);
  Operand operand = Operand::of(memory.parameters);
  operand.op = ReduceOp::average;
  const auto bytes = static_cast<std::int64_t>(memory.parameters.size_bytes());
  const auto mean = prepare_exchange(endpoint, {.world = request.world,
                                                .algorithm = request.strategy.algorithm.at(bytes),
                                                .compressor = parse_compressor("none"),
                                                .operand = operand});
  wait_for(*mean, request.timeout, kTakingMean);
  before.add(parameters, -1);
  std::vector<float> distances(memory.means.size());
  device.read(std::as_bytes(memory.means), std::as_writable_bytes(std::span(distances)));
  const auto all = sum_on_first(sum_of_squares(distances), request, endpoint.control());
  if (!all) return std::nullopt;
  return std::sqrt(*all / (static_cast<double>(memory.parameters.size()) * request.world.workers));
}

}  // namespace hbench
