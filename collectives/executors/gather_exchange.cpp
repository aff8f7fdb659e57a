#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/error.hpp"
#include "collectives/executors/exchange_parts.hpp"
#include "collectives/executors/rank_program.hpp"

namespace hbench {
namespace {

/// First the lengths of all encodings travel, then the encodings, by the same schedule and with the same tag: a peer
/// may be one run ahead, but it posts its messages in the same order.
class Gather final : public Operation {
 public:
  Gather(Endpoint& endpoint, const ExchangeRequest& request)
      : transport_(endpoint.transport()),
        tag_(endpoint.reserve_tag()),
        operand_(request.operand),
        gradient_(operand_.floats()),
        workers_(request.world.workers),
        compressor_(request.compressor),
        codec_(timed(compressor_.codec, request.times)),
        memory_(request.memory),
        most_(codec_->max_wire_bytes(operand_.elements())),
        plan_(all_gather(endpoint, request, most_ * workers_)),
        encoded_(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(most_))),
        lengths_(static_cast<std::size_t>(workers_)),
        known_(lengths_.size(), -1) {
    plan_.schedule.offsets = offsets(std::vector<std::int64_t>(lengths_.size(), 1));
    length_program_ = std::make_unique<RankProgram>(
        plan_, nullptr, transport_, tag_, Operand{std::as_writable_bytes(std::span(lengths_)), DataType::int64});
  }

  bool progress() override {
    if (stage_ == Stage::encode) {
      encode();
      stage_ = Stage::lengths;
    }
    if (stage_ == Stage::lengths) {
      if (!length_program_->progress()) return false;
      place_payloads();
      stage_ = Stage::payloads;
    }
    if (stage_ == Stage::payloads) {
      if (!payload_program_->progress()) return false;
      decode();
      stage_ = Stage::complete;
    }
    return true;
  }

  void restart() override {
    length_program_->restart();
    stage_ = Stage::encode;
  }

  std::string waiting_for() const override {
    if (stage_ == Stage::complete) return {};
    if (stage_ == Stage::payloads) return payload_program_->waiting_for();
    return length_program_->waiting_for() + " of the lengths";
  }
  std::vector<Rank> waiting_ranks() const override {
    if (stage_ == Stage::complete) return {};
    return (stage_ == Stage::payloads ? payload_program_ : length_program_)->waiting_ranks();
  }
  std::int64_t bytes_sent() const override {
    return sent_before_ + length_program_->bytes_sent() + (payload_program_ ? payload_program_->bytes_sent() : 0);
  }

 private:
  enum class Stage { encode, lengths, payloads, complete };

  static RankPlan all_gather(Endpoint& endpoint, const ExchangeRequest& request, std::int64_t bytes) {
    const AlgorithmChoice algorithm = *all_gather_of(request.algorithm);
    const Schedule& schedule = schedule_of(endpoint, request, algorithm, static_cast<std::size_t>(bytes));
    return plan_for(schedule, endpoint.transport().rank());
  }

  std::size_t rank() const { return static_cast<std::size_t>(transport_.rank()); }

  /// Part r of the schedule is `sizes[r]` long, cut evenly into its chunks.
  std::vector<std::int64_t> offsets(const std::vector<std::int64_t>& sizes) const {
    const int pieces = plan_.schedule.chunks / workers_;
    std::vector<std::int64_t> all{0};
    for (const std::int64_t size : sizes) {
      const std::int64_t begin = all.back();
      for (int piece = 1; piece <= pieces; ++piece) all.push_back(begin + size * piece / pieces);
    }
    return all;
  }

  void encode() {
    if (memory_->gradient != nullptr) memory_->gradient->compensate(gradient_);
    const Draw draw{.seed = memory_->seed, .rank = transport_.rank(), .step = memory_->step++};
    const std::span<std::byte> room{encoded_.get(), static_cast<std::size_t>(most_)};
    lengths_[rank()] = codec_->encode(gradient_, draw, room);
    if (memory_->gradient != nullptr)
      memory_->gradient->update(gradient_, room.first(static_cast<std::size_t>(lengths_[rank()])), *compressor_.codec);
  }

  /// Runs whose lengths are those of the run before go on with its program.
  void place_payloads() {
    for (std::size_t peer = 0; peer < lengths_.size(); ++peer)
      if (lengths_[peer] < 0 || lengths_[peer] > most_)
        throw Error(ExitCode::wrong_data,
                    fmt::format("rank {} announces an encoding of {} bytes where {} holds at most {}", peer,
                                lengths_[peer], compressor_.text(), most_),
                    "give every rank a buffer of the same size");
    if (payload_program_ != nullptr && known_ == lengths_) {
      payload_program_->restart();
    } else {
      if (payload_program_ != nullptr) sent_before_ += payload_program_->bytes_sent();
      known_ = lengths_;
      plan_.schedule.offsets = offsets(known_);
      payloads_.resize(static_cast<std::size_t>(plan_.schedule.offsets.back()));
      payload_program_ =
          std::make_unique<RankProgram>(plan_, nullptr, transport_, tag_, Operand{payloads_, DataType::uint8});
    }
    std::memcpy(payload_of(rank()).data(), encoded_.get(), payload_of(rank()).size());
  }

  std::span<std::byte> payload_of(std::size_t peer) {
    const std::size_t pieces = static_cast<std::size_t>(plan_.schedule.chunks / workers_);
    const auto begin = static_cast<std::size_t>(plan_.schedule.offsets[peer * pieces]);
    return std::span(payloads_).subspan(begin, static_cast<std::size_t>(known_[peer]));
  }

  /// In rank order, so that all workers end with the same bits.
  void decode() {
    for (std::size_t peer = 0; peer < lengths_.size(); ++peer)
      codec_->decode(payload_of(peer), peer == 0 ? TransferKind::copy : TransferKind::reduce, gradient_);
    finish(operand_.type, operand_.op, workers_, operand_.buffer);
  }

  Transport& transport_;
  int tag_;
  Operand operand_;
  std::span<float> gradient_;
  int workers_;
  CompressorChoice compressor_;
  std::shared_ptr<const Codec> codec_;
  std::shared_ptr<ExchangeMemory> memory_;
  std::int64_t most_;  ///< bytes of one encoding
  RankPlan plan_;
  std::unique_ptr<std::byte[]> encoded_;
  std::vector<std::int64_t> lengths_;
  std::vector<std::int64_t> known_;  ///< the lengths that `payload_program_` is for
  std::vector<std::byte> payloads_;  ///< those of all ranks
  std::unique_ptr<Operation> length_program_;
  std::unique_ptr<Operation> payload_program_;
  std::int64_t sent_before_ = 0;  ///< by earlier payload programs
  Stage stage_ = Stage::encode;
};

}  // namespace

std::unique_ptr<Operation> prepare_gather(Endpoint& endpoint, const ExchangeRequest& request) {
  return std::make_unique<Gather>(endpoint, request);
}

}  // namespace hbench
