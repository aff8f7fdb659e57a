#include "collectives/exchange/staged_exchange.hpp"

namespace hbench {
namespace {

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
    // Both queue here, before any other exchange, because ranks differ in which exchange they progress next.
    for (const auto& program : programs) program->take_turn();
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

std::unique_ptr<Operation> prepare_low_rank(Endpoint& endpoint, const ExchangeRequest& request) {
  return make_staged_exchange(endpoint.device(), std::make_unique<LowRank>(endpoint, request));
}

}  // namespace hbench
