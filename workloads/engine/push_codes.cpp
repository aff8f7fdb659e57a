#include "workloads/engine/push_codes.hpp"

#include <fmt/format.h>

#include "collectives/base/error.hpp"
#include "collectives/exchange/exchange.hpp"

namespace hbench {
namespace {

/// Two tags each leave some of those that an endpoint reserves.
constexpr int kMostPieces = 4000;

/// Null where gradients travel as they are.
std::shared_ptr<const Codec> codec_of(const CompressorChoice& compressor, Device& device) {
  if (compressor.verbatim()) return nullptr;
  if (const std::string why = refuse_device(device, compressor); !why.empty())
    throw Error(ExitCode::usage, why, "choose another compressor, or an executor in host memory");
  return device.codec_of(compressor);
}

}  // namespace

std::vector<std::vector<ServerPiece>> server_pieces(const TrainingRequest& request, const GradientLayout& layout,
                                                    Endpoint& endpoint) {
  std::vector<std::vector<ServerPiece>> all;
  std::int64_t at = 0;
  int number = 0;
  for (const std::vector<Shard>& shards : request.strategy.placement->place(layout.elements, request.world.servers)) {
    const int tensor = static_cast<int>(all.size());
    std::vector<ServerPiece>& pieces = all.emplace_back();
    for (const Shard& shard : shards) {
      const ElementRange range{at, at + shard.elements};
      at = range.end;
      if (range.size() == 0) continue;
      pieces.push_back({.number = number++,
                        .tensor = tensor,
                        .server = request.world.server_rank(shard.server),
                        .range = range,
                        .push_tag = endpoint.reserve_tag(),
                        .pull_tag = endpoint.reserve_tag()});
    }
  }
  if (number > kMostPieces)
    throw Error(ExitCode::usage,
                fmt::format("the model lies on servers in {} pieces, and {} are the most", number, kMostPieces),
                "take --placement greedy");
  return all;
}

PushEncoder::PushEncoder(const TrainingRequest& request, Endpoint& endpoint)
    : compressor_(request.strategy.compressor),
      seed_(request.seed),
      rank_(endpoint.transport().rank()),
      device_(endpoint.device()),
      codec_(codec_of(compressor_, device_)) {}

std::span<const std::byte> PushEncoder::encode(const ServerPiece& piece, std::span<float> gradients) {
  if (codec_ == nullptr) return std::as_bytes(gradients);
  const auto room = static_cast<std::size_t>(codec_->max_wire_bytes(std::ssize(gradients)));
  Coded& coded = coded_[piece.number];
  if (coded.bytes == nullptr) {
    coded.bytes = device_.allocate(room);
    coded.memory = compressor_.make_memory(std::ssize(gradients), device_);
  }
  const std::span<std::byte> bytes(coded.bytes.get(), room);
  if (coded.memory != nullptr) coded.memory->compensate(gradients);
  const std::uint64_t seed = seed_at(seed_, static_cast<std::uint64_t>(piece.number));
  codec_->encode(gradients, {.seed = seed, .rank = rank_, .step = coded.pushes++}, bytes);
  if (coded.memory != nullptr) coded.memory->update(gradients, bytes, *codec_);
  return bytes;
}

PushDecoder::PushDecoder(const TrainingRequest& request, Endpoint& endpoint, std::size_t most)
    : codec_(codec_of(request.strategy.compressor, endpoint.device())) {
  if (codec_ != nullptr) decoded_ = make_floats(endpoint.device(), most);
}

std::size_t PushDecoder::bytes_of(std::size_t elements) const {
  if (codec_ == nullptr) return elements * sizeof(float);
  return static_cast<std::size_t>(codec_->max_wire_bytes(static_cast<std::int64_t>(elements)));
}

std::span<float> PushDecoder::decode(std::span<std::byte> pushed, std::size_t elements) {
  if (codec_ == nullptr) return {reinterpret_cast<float*>(pushed.data()), elements};
  const std::span<float> gradients = decoded_.floats.first(elements);
  codec_->decode(pushed, TransferKind::copy, gradients);
  return gradients;
}

}  // namespace hbench
