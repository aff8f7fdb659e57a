#include "collectives/exchange/gathered_gradient.hpp"

namespace hbench {

GatheredGradient::GatheredGradient(Endpoint& endpoint, const ExchangeRequest& request)
    : device_(endpoint.device()),
      rank_(endpoint.transport().rank()),
      workers_(request.world.workers),
      operand_(request.operand),
      gradient_(operand_.floats()),
      codec_(device_.codec_of(request.compressor)),
      timed_(timed(codec_, request.times)),
      memory_(request.memory) {}

std::int64_t GatheredGradient::encode(std::span<std::byte> room) {
  if (memory_->gradient != nullptr) memory_->gradient->compensate(gradient_);
  const Draw draw{.seed = memory_->seed, .rank = rank_, .step = memory_->step++};
  const std::int64_t bytes = timed_->encode(gradient_, draw, room);
  if (memory_->gradient != nullptr)
    memory_->gradient->update(gradient_, room.first(static_cast<std::size_t>(bytes)), *codec_);
  return bytes;
}

void GatheredGradient::decode(Rank peer, std::span<const std::byte> payload) {
  timed_->decode(payload, peer == 0 ? TransferKind::copy : TransferKind::reduce, gradient_);
  if (peer == workers_ - 1) device_.finish(operand_.type, operand_.op, workers_, operand_.buffer);
}

const Schedule& all_gather_for(Endpoint& endpoint, const ExchangeRequest& request, std::int64_t most) {
  return schedule_of(endpoint, request, *all_gather_of(request.algorithm),
                     static_cast<std::size_t>(most * request.world.workers));
}

std::vector<std::int64_t> offsets_of(const Schedule& schedule, std::span<const std::int64_t> sizes) {
  const int pieces = schedule.chunks / static_cast<int>(sizes.size());
  std::vector<std::int64_t> all{0};
  for (const std::int64_t size : sizes) {
    const std::int64_t begin = all.back();
    for (int piece = 1; piece <= pieces; ++piece) all.push_back(begin + size * piece / pieces);
  }
  return all;
}

}  // namespace hbench
