#include "collectives/exchange/staged_exchange.hpp"

#include <fmt/format.h>

#include <cstring>

#include "collectives/base/error.hpp"
#include "collectives/program/rank_program.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {
namespace {

class StagedExchange final : public Operation {
 public:
  StagedExchange(Device& device, std::unique_ptr<ExchangeStages> stages)
      : device_(device), stages_(std::move(stages)) {}
  ~StagedExchange() override {
    const bool ended = at_end();
    stages_->programs.clear();
    ended ? synchronize_noexcept(device_, end_) : synchronize_noexcept(device_);
  }

  bool progress() override {
    if (!begun_) begin();
    for (; !at_end(); ++next_) {
      if (!running().progress()) return false;
      stages_->after(next_);
      if (next_ + 1 == stages_->programs.size()) end_ = device_.record_event();
    }
    return device_.query(end_);
  }

  void restart() override {
    for (const auto& program : stages_->programs) program->restart();
    begun_ = false;
    next_ = 0;
  }

  /// All programs queue at once, before those of any other exchange, because ranks differ in which they progress next.
  void take_turn() override {
    for (const auto& program : stages_->programs) program->take_turn();
  }

  std::string waiting_for() const override {
    if (at_end()) return device_.query(end_) ? "" : "its device to finish";
    return running().waiting_for().append(stages_->part(next_));
  }
  std::vector<Rank> waiting_ranks() const override {
    return at_end() ? std::vector<Rank>() : running().waiting_ranks();
  }

 private:
  void begin() {
    take_turn();
    stages_->begin();
    begun_ = true;
  }
  bool at_end() const { return next_ == stages_->programs.size(); }
  Operation& running() const { return *stages_->programs[next_]; }

  Device& device_;
  std::unique_ptr<ExchangeStages> stages_;
  bool begun_ = false;
  std::size_t next_ = 0;  ///< the program that runs
  Event end_;             ///< after all work
};

/// Payloads begin where a kernel's widest accesses can.
constexpr std::int64_t kAlignment = 16;

/// Payloads have one length, so that the gather can be prepared before they are encoded, and a rank encodes to where it
/// sends from.
class FixedGather final : public ExchangeStages {
 public:
  FixedGather(Endpoint& endpoint, const ExchangeRequest& request)
      : rank_(endpoint.transport().rank()),
        gradient_(endpoint, request),
        most_(static_cast<std::size_t>(gradient_.most())),
        room_((gradient_.most() + kAlignment - 1) / kAlignment * kAlignment),
        payloads_(endpoint.device().allocate(static_cast<std::size_t>(room_ * gradient_.workers()))) {
    Schedule schedule = all_gather_for(endpoint, request, room_);
    schedule.offsets =
        offsets_of(schedule, std::vector<std::int64_t>(static_cast<std::size_t>(gradient_.workers()), room_));
    const Operand all{{payloads_.get(), static_cast<std::size_t>(schedule.offsets.back())}, DataType::uint8};
    programs.push_back(endpoint.prepare(schedule, all, nullptr));
    // What lies behind an encoding travels with it: nobody decodes it, and it is the same in every run.
    endpoint.device().fill_neutral(DataType::uint8, ReduceOp::sum,
                                   {payload_of(rank_).data() + most_, static_cast<std::size_t>(room_) - most_});
  }

  void begin() override { gradient_.encode(payload_of(rank_)); }
  void after(std::size_t) override {
    for (Rank peer = 0; peer < gradient_.workers(); ++peer) gradient_.decode(peer, payload_of(peer));
  }

 private:
  std::span<std::byte> payload_of(Rank peer) const { return {payloads_.get() + peer * room_, most_}; }

  Rank rank_;
  GatheredGradient gradient_;
  std::size_t most_;   ///< bytes of one encoding
  std::int64_t room_;  ///< for it
  DeviceMemory payloads_;
};

/// First the lengths of all encodings travel, then the encodings, by the same schedule and with the same tag: a peer
/// may be one run ahead, but it posts its messages in the same order.
class Gather final : public Operation {
 public:
  Gather(Endpoint& endpoint, const ExchangeRequest& request)
      : transport_(endpoint.transport()),
        tag_(endpoint.reserve_tag()),
        gradient_(endpoint, request),
        name_(request.compressor.text()),
        most_(gradient_.most()),
        plan_(plan_for(all_gather_for(endpoint, request, most_), transport_.rank())),
        encoded_(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(most_))),
        lengths_(static_cast<std::size_t>(gradient_.workers())),
        known_(lengths_.size(), -1) {
    plan_.schedule.offsets = offsets_of(plan_.schedule, std::vector<std::int64_t>(lengths_.size(), 1));
    length_program_ = make_rank_program(plan_, nullptr, transport_, tag_,
                                        Operand{std::as_writable_bytes(std::span(lengths_)), DataType::int64});
  }

  bool progress() override {
    if (stage_ == Stage::encode) {
      lengths_[rank()] = gradient_.encode({encoded_.get(), static_cast<std::size_t>(most_)});
      stage_ = Stage::lengths;
    }
    if (stage_ == Stage::lengths) {
      if (!length_program_->progress()) return false;
      place_payloads();
      stage_ = Stage::payloads;
    }
    if (stage_ == Stage::payloads) {
      if (!payload_program_->progress()) return false;
      for (Rank peer = 0; peer < gradient_.workers(); ++peer)
        gradient_.decode(peer, payload_of(static_cast<std::size_t>(peer)));
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

 private:
  enum class Stage { encode, lengths, payloads, complete };

  std::size_t rank() const { return static_cast<std::size_t>(transport_.rank()); }

  /// Runs whose lengths are those of the run before go on with its program.
  void place_payloads() {
    for (std::size_t peer = 0; peer < lengths_.size(); ++peer)
      if (lengths_[peer] < 0 || lengths_[peer] > most_)
        throw Error(ExitCode::wrong_data,
                    fmt::format("rank {} announces an encoding of {} bytes where {} holds at most {}", peer,
                                lengths_[peer], name_, most_),
                    "give every rank a buffer of the same size");
    if (payload_program_ != nullptr && known_ == lengths_) {
      payload_program_->restart();
    } else {
      known_ = lengths_;
      plan_.schedule.offsets = offsets_of(plan_.schedule, known_);
      payloads_.resize(static_cast<std::size_t>(plan_.schedule.offsets.back()));
      payload_program_ = make_rank_program(plan_, nullptr, transport_, tag_, Operand{payloads_, DataType::uint8});
    }
    std::memcpy(payload_of(rank()).data(), encoded_.get(), payload_of(rank()).size());
  }

  std::span<std::byte> payload_of(std::size_t peer) {
    const std::size_t pieces = static_cast<std::size_t>(plan_.schedule.chunks / gradient_.workers());
    const auto begin = static_cast<std::size_t>(plan_.schedule.offsets[peer * pieces]);
    return std::span(payloads_).subspan(begin, static_cast<std::size_t>(known_[peer]));
  }

  Transport& transport_;
  int tag_;
  GatheredGradient gradient_;
  std::string name_;
  std::int64_t most_;  ///< bytes of one encoding
  RankPlan plan_;
  std::unique_ptr<std::byte[]> encoded_;
  std::vector<std::int64_t> lengths_;
  std::vector<std::int64_t> known_;  ///< the lengths that `payload_program_` is for
  std::vector<std::byte> payloads_;  ///< those of all ranks
  std::unique_ptr<Operation> length_program_;
  std::unique_ptr<Operation> payload_program_;
  Stage stage_ = Stage::encode;
};

class LowRank final : public ExchangeStages {
 public:
  LowRank(Endpoint& endpoint, const ExchangeRequest& request)
      : device_(endpoint.device()),
        operand_(request.operand),
        workers_(request.world.workers),
        memory_(request.memory),
        state_(*memory_->factors),
        times_(request.times) {
    for (const std::span<float> factor : {state_.left(), state_.right()})
      programs.push_back(endpoint.prepare(schedule_of(endpoint, request, request.algorithm, factor.size_bytes()),
                                          Operand::of(factor), nullptr));
  }

  void begin() override {
    const Stopwatch stopwatch(times_ != nullptr ? &times_->encode : nullptr);
    ++memory_->step;
    state_.begin(operand_.floats());
  }

  void after(std::size_t program) override {
    const Stopwatch stopwatch(times_ == nullptr ? nullptr : program == 0 ? &times_->encode : &times_->decode);
    if (program == 0) return state_.middle(operand_.floats());
    state_.end(operand_.floats());
    device_.finish(operand_.type, operand_.op, workers_, operand_.buffer);
  }

  std::string_view part(std::size_t program) const override {
    return program == 0 ? " of the left factor" : " of the right factor";
  }

 private:
  Device& device_;
  Operand operand_;
  int workers_;
  std::shared_ptr<ExchangeMemory> memory_;
  LowRankState& state_;
  CodecTimes* times_;
};

}  // namespace

std::unique_ptr<Operation> make_staged_exchange(Device& device, std::unique_ptr<ExchangeStages> stages) {
  return std::make_unique<StagedExchange>(device, std::move(stages));
}

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

std::unique_ptr<Operation> prepare_fixed_gather(Endpoint& endpoint, const ExchangeRequest& request) {
  return make_staged_exchange(endpoint.device(), std::make_unique<FixedGather>(endpoint, request));
}

std::unique_ptr<Operation> prepare_gather(Endpoint& endpoint, const ExchangeRequest& request) {
  return std::make_unique<Gather>(endpoint, request);
}

std::unique_ptr<Operation> prepare_low_rank(Endpoint& endpoint, const ExchangeRequest& request) {
  return make_staged_exchange(endpoint.device(), std::make_unique<LowRank>(endpoint, request));
}

}  // namespace hbench
