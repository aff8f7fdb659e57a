#include <stdexcept>

#include "workloads/engine/negotiator.hpp"
#include "workloads/engine/pacer.hpp"

namespace hbench {
namespace {

/// That of a rank which walks the plan for itself: it asks nobody which buckets leave.
class FreeSide final : public Negotiator {
 public:
  FreeSide(const TrainingRequest& request, const GradientLayout& layout, const StepPlan& plan,
           std::unique_ptr<Pacer> pacer)
      : request_(request),
        coordinator_(StepProgress(plan, request.strategy.fusion, layout.bytes()), 1),
        pacer_(std::move(pacer)) {}

  void begin_step(Clock::time_point at, int iteration) override {
    begun_ = at;
    ended_ = false;
    pacer_->begin(at);
    leave(coordinator_.begin_step(iteration));
  }

  void announce(int task, std::span<const int> tensors) override {
    if (!tensors.empty()) leave(coordinator_.announced(0, task, tensors, now()));
  }

  std::vector<LeavingBucket> poll(std::span<const int> completed, int in_flight) override {
    for (const int task : completed) leave(coordinator_.bucket_done(task, now()));
    leave(coordinator_.tick(now()));
    const int left = in_flight + static_cast<int>(launch_.size());
    if (coordinator_.stuck(left)) throw std::logic_error("the fusion policy keeps gradients back");
    if (coordinator_.all_launched() && left == 0 && !std::exchange(ended_, true)) pacer_->end();
    pacer_->poll();
    return std::exchange(launch_, {});
  }

  std::optional<Clock::time_point> wakeup() const override {
    const std::optional<Seconds> due = coordinator_.wakeup();
    if (!due) return std::nullopt;
    const std::chrono::duration<double> since_begin(due->value * request_.dilation);
    return begun_ + std::chrono::duration_cast<Clock::duration>(since_begin);
  }

  bool expects_messages() const override { return ended_ && pacer_->expects_messages(); }
  bool all_launched() const override { return ended_ && pacer_->next(); }
  Phase next() const override { return pacer_->next().value(); }
  void finish() override { pacer_->finish(); }
  void abort(std::span<const Rank>) override {}  // whoever waits finds out for itself

 private:
  /// For the fusion policy.
  Seconds now() const {
    return Seconds(std::chrono::duration<double>(Clock::now() - begun_).count()) / request_.dilation;
  }

  void leave(std::vector<LeavingBucket> buckets) {
    for (LeavingBucket& leaving : buckets) launch_.push_back(std::move(leaving));
  }

  const TrainingRequest& request_;
  Coordinator coordinator_;
  std::unique_ptr<Pacer> pacer_;
  std::vector<LeavingBucket> launch_;
  bool ended_ = true;  ///< the iteration: everything has left and arrived
  Clock::time_point begun_;
};

}  // namespace

std::unique_ptr<Negotiator> make_free_side(const TrainingRequest& request, Transport& transport,
                                           const GradientLayout& layout, const StepPlan& plan) {
  auto pacer = exchanges_among(plan, Among::neighbours) ? make_leading_pacer(request, transport, plan)
                                                        : make_own_pacer(request, transport);
  return std::make_unique<FreeSide>(request, layout, plan, std::move(pacer));
}

}  // namespace hbench
