#include "collectives/exchange/gathered_gradient.hpp"

namespace hbench {
namespace {

/// Payloads begin where a kernel's widest accesses can.
constexpr std::int64_t kAlignment = 16;

/// Payloads have one length, so that the gather can be prepared before they are encoded, and a rank encodes to where it
/// sends from.
class FixedGather final : public Operation {
 public:
  FixedGather(Endpoint& endpoint, const ExchangeRequest& request)
      : device_(endpoint.device()),
        rank_(endpoint.transport().rank()),
        gradient_(endpoint, request),
        most_(static_cast<std::size_t>(gradient_.most())),
        room_((gradient_.most() + kAlignment - 1) / kAlignment * kAlignment),
        payloads_(device_.allocate(static_cast<std::size_t>(room_ * gradient_.workers()))) {
    Schedule schedule = all_gather_for(endpoint, request, room_);
    schedule.offsets =
        offsets_of(schedule, std::vector<std::int64_t>(static_cast<std::size_t>(gradient_.workers()), room_));
    const Operand all{{payloads_.get(), static_cast<std::size_t>(schedule.offsets.back())}, DataType::uint8};
    program_ = endpoint.prepare(schedule, all, nullptr);
  }
  ~FixedGather() override {
    program_.reset();
    stage_ == Stage::decode ? synchronize_noexcept(device_, end_) : synchronize_noexcept(device_);
  }
  FixedGather(const FixedGather&) = delete;
  FixedGather& operator=(const FixedGather&) = delete;

  bool progress() override {
    if (stage_ == Stage::encode) {
      gradient_.encode(payload_of(rank_));
      stage_ = Stage::travel;
    }
    if (stage_ == Stage::travel) {
      if (!program_->progress()) return false;
      for (Rank peer = 0; peer < gradient_.workers(); ++peer) gradient_.decode(peer, payload_of(peer));
      end_ = device_.record_event();
      stage_ = Stage::decode;
    }
    return device_.query(end_);
  }

  void restart() override {
    program_->restart();
    stage_ = Stage::encode;
  }

  std::string waiting_for() const override {
    if (stage_ != Stage::decode) return program_->waiting_for();
    return device_.query(end_) ? "" : "its device to finish";
  }
  std::vector<Rank> waiting_ranks() const override {
    return stage_ == Stage::decode ? std::vector<Rank>() : program_->waiting_ranks();
  }

 private:
  enum class Stage { encode, travel, decode };

  std::span<std::byte> payload_of(Rank peer) const { return {payloads_.get() + peer * room_, most_}; }

  Device& device_;
  Rank rank_;
  GatheredGradient gradient_;
  std::size_t most_;   ///< bytes of one encoding
  std::int64_t room_;  ///< for it
  DeviceMemory payloads_;
  std::unique_ptr<Operation> program_;
  Stage stage_ = Stage::encode;
  Event end_;
};

}  // namespace

std::unique_ptr<Operation> prepare_fixed_gather(Endpoint& endpoint, const ExchangeRequest& request) {
  return std::make_unique<FixedGather>(endpoint, request);
}

}  // namespace hbench
