#include "collectives/exchange/exchange.hpp"

namespace hbench {
namespace {

class LowRank final : public Operation {
 public:
  LowRank(Endpoint& endpoint, const ExchangeRequest& request)
      : device_(endpoint.device()),
        operand_(request.operand),
        gradient_(operand_.floats()),
        workers_(request.world.workers),
        memory_(request.memory),
        state_(*memory_->factors),
        times_(request.times),
        left_(all_reduce(endpoint, request, state_.left())),
        right_(all_reduce(endpoint, request, state_.right())) {}
  ~LowRank() override {
    left_.reset();
    right_.reset();
    stage_ == Stage::end ? synchronize_noexcept(device_, end_) : synchronize_noexcept(device_);
  }
  LowRank(const LowRank&) = delete;
  LowRank& operator=(const LowRank&) = delete;

  bool progress() override {
    if (stage_ == Stage::begin) {
      const Stopwatch stopwatch(times_ != nullptr ? &times_->encode : nullptr);
      // Both queue here, before any other exchange, because ranks differ in which exchange they progress next.
      left_->take_turn();
      right_->take_turn();
      ++memory_->step;
      state_.begin(gradient_);
      stage_ = Stage::left;
    }
    if (stage_ == Stage::left) {
      if (!left_->progress()) return false;
      const Stopwatch stopwatch(times_ != nullptr ? &times_->encode : nullptr);
      state_.middle(gradient_);
      stage_ = Stage::right;
    }
    if (stage_ == Stage::right) {
      if (!right_->progress()) return false;
      const Stopwatch stopwatch(times_ != nullptr ? &times_->decode : nullptr);
      state_.end(gradient_);
      device_.finish(operand_.type, operand_.op, workers_, operand_.buffer);
      end_ = device_.record_event();
      stage_ = Stage::end;
    }
    return device_.query(end_);
  }

  void restart() override {
    left_->restart();
    right_->restart();
    stage_ = Stage::begin;
  }

  std::string waiting_for() const override {
    if (stage_ == Stage::end) return device_.query(end_) ? "" : "its device to finish";
    return current().waiting_for() + (stage_ == Stage::right ? " of the right factor" : " of the left factor");
  }
  std::vector<Rank> waiting_ranks() const override {
    return stage_ == Stage::end ? std::vector<Rank>() : current().waiting_ranks();
  }

 private:
  enum class Stage { begin, left, right, end };

  static std::unique_ptr<Operation> all_reduce(Endpoint& endpoint, const ExchangeRequest& request,
                                               std::span<float> factor) {
    const Schedule& schedule = schedule_of(endpoint, request, request.algorithm, factor.size_bytes());
    return endpoint.prepare(schedule, Operand::of(factor), nullptr);
  }

  const Operation& current() const { return stage_ == Stage::right ? *right_ : *left_; }

  Device& device_;
  Operand operand_;
  std::span<float> gradient_;
  int workers_;
  std::shared_ptr<ExchangeMemory> memory_;
  LowRankState& state_;
  CodecTimes* times_;
  std::unique_ptr<Operation> left_;
  std::unique_ptr<Operation> right_;
  Stage stage_ = Stage::begin;
  Event end_;
};

}  // namespace

std::unique_ptr<Operation> prepare_low_rank(Endpoint& endpoint, const ExchangeRequest& request) {
  return std::make_unique<LowRank>(endpoint, request);
}

}  // namespace hbench
