#include "collectives/exchange/exchange.hpp"

namespace hbench {
namespace {

class TimedCodec final : public Codec {
 public:
  TimedCodec(std::shared_ptr<const Codec> codec, CodecTimes& times) : codec_(std::move(codec)), times_(times) {}

  std::int64_t max_wire_bytes(std::int64_t elements) const override { return codec_->max_wire_bytes(elements); }

  std::int64_t encode(std::span<const float> in, const Draw& draw, std::span<std::byte> out) const override {
    const Stopwatch stopwatch(&times_.encode);
    return codec_->encode(in, draw, out);
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    const Stopwatch stopwatch(&times_.decode);
    codec_->decode(in, kind, out);
  }

 private:
  std::shared_ptr<const Codec> codec_;
  CodecTimes& times_;
};

/// A program that encodes every transfer.
///
/// With a memory, a rank's contribution is rounded as a whole, as the codec does, before it travels, and what is lost
/// is kept for the next step. What later hops lose of partial sums is not kept by any rank.
class PerHop final : public Operation {
 public:
  PerHop(Endpoint& endpoint, const ExchangeRequest& request)
      : device_(endpoint.device()),
        rank_(endpoint.transport().rank()),
        brings_gradient_(rank_ < request.world.workers),
        gradient_(request.operand.floats()),
        codec_(timed(device_.codec_of(request.compressor), request.times)),
        memory_(request.memory),
        program_(endpoint.prepare(
            schedule_of(endpoint, request, request.algorithm, request.operand.buffer.size(), request.shards),
            request.operand, codec_.get())) {
    if (memory_->gradient == nullptr || !brings_gradient_) return;
    room_ = static_cast<std::size_t>(codec_->max_wire_bytes(std::ssize(gradient_)));
    encoded_ = device_.allocate(room_);
  }

  bool progress() override {
    if (!begun_) begin();
    begun_ = true;
    return program_->progress();
  }
  void restart() override {
    program_->restart();
    begun_ = false;
  }
  void take_turn() override { program_->take_turn(); }
  std::string waiting_for() const override { return program_->waiting_for(); }
  std::vector<Rank> waiting_ranks() const override { return program_->waiting_ranks(); }

 private:
  void begin() {
    const Draw draw{.seed = memory_->seed, .rank = rank_, .step = memory_->step++};
    if (memory_->gradient == nullptr || !brings_gradient_) return;
    memory_->gradient->compensate(gradient_);
    const std::int64_t bytes = codec_->encode(gradient_, draw, {encoded_.get(), room_});
    const std::span<const std::byte> encoded(encoded_.get(), static_cast<std::size_t>(bytes));
    memory_->gradient->update(gradient_, encoded, *codec_);
    codec_->decode(encoded, TransferKind::copy, gradient_);
  }

  Device& device_;
  Rank rank_;
  bool brings_gradient_;
  std::span<float> gradient_;
  std::shared_ptr<const Codec> codec_;
  std::shared_ptr<ExchangeMemory> memory_;
  std::size_t room_ = 0;
  DeviceMemory encoded_;
  std::unique_ptr<Operation> program_;  ///< ends when the device is done with all that is above
  bool begun_ = false;
};

}  // namespace

std::shared_ptr<const Codec> timed(std::shared_ptr<const Codec> codec, CodecTimes* times) {
  if (times == nullptr) return codec;
  return std::make_shared<TimedCodec>(std::move(codec), *times);
}

std::unique_ptr<Operation> prepare_per_hop(Endpoint& endpoint, const ExchangeRequest& request) {
  return std::make_unique<PerHop>(endpoint, request);
}

}  // namespace hbench
