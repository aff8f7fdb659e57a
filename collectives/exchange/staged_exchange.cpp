#include "collectives/exchange/staged_exchange.hpp"

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
    if (!begun_) stages_->begin();
    begun_ = true;
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

  std::string waiting_for() const override {
    if (at_end()) return device_.query(end_) ? "" : "its device to finish";
    return running().waiting_for().append(stages_->part(next_));
  }
  std::vector<Rank> waiting_ranks() const override {
    return at_end() ? std::vector<Rank>() : running().waiting_ranks();
  }

 private:
  bool at_end() const { return next_ == stages_->programs.size(); }
  Operation& running() const { return *stages_->programs[next_]; }

  Device& device_;
  std::unique_ptr<ExchangeStages> stages_;
  bool begun_ = false;
  std::size_t next_ = 0;  ///< the program that runs
  Event end_;             ///< after all work
};

}  // namespace

std::unique_ptr<Operation> make_staged_exchange(Device& device, std::unique_ptr<ExchangeStages> stages) {
  return std::make_unique<StagedExchange>(device, std::move(stages));
}

}  // namespace hbench
