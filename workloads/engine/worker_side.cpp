#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "collectives/base/units_text.hpp"
#include "workloads/engine/mail.hpp"
#include "workloads/engine/negotiator.hpp"

namespace hbench {
namespace {

/// That of every rank but 0. Dedicated servers announce nothing.
class WorkerSide final : public Negotiator {
 public:
  WorkerSide(const TrainingRequest& request, Transport& transport, const StepPlan& plan)
      : request_(request),
        opens_(
            std::ranges::any_of(plan.tasks, [](const Task& task) { return !task.computes() && task.after.empty(); })),
        outbox_(transport),
        orders_(transport, 0, kOrderTag) {}

  void begin_step(Clock::time_point at, int) override {
    last_order_ = at;
    ended_ = announced_ = false;
    orders_.expect();
  }

  void announce(int task, std::span<const int> tensors) override {
    announced_ = announced_ || !tensors.empty();
    for (Announcement& message : to_sets<Announcement>({tensors.begin(), tensors.end()})) {
      message.task = task;
      outbox_.send(0, kAnnouncementTag, message);
    }
  }

  std::vector<LeavingBucket> poll(std::span<const int>, int) override {
    outbox_.progress();
    std::vector<LeavingBucket> launch;
    while (const auto order = orders_.poll()) {
      last_order_ = Clock::now();
      follow(*order, launch);
      if (!ended_) orders_.expect();
    }
    const double silence = std::chrono::duration<double>(Clock::now() - last_order_).count();
    if (!ended_ && silence > kMorePatience * request_.timeout.value) {
      throw late_ranks(step_, request_.timeout * kMorePatience, "rank 0");
    }
    return launch;
  }

  bool expects_messages() const override { return (announced_ || opens_) && !ended_; }
  bool all_launched() const override { return ended_; }
  Phase next() const override { return next_; }
  void finish() override { flush(outbox_, request_.timeout, "ending the job"); }
  void abort(std::span<const Rank>) override {}

 private:
  void follow(const Order& order, std::vector<LeavingBucket>& launch) {
    const std::vector<std::int32_t> members = order.members.numbers();
    switch (order.kind) {
      case OrderKind::alive:
        return;
      case OrderKind::abort:
        // Some libraries do not say which ranks they wait for.
        throw late_ranks(step_, request_.timeout,
                         members.empty() ? "another rank, says rank 0"
                                         : fmt::format("rank {}, says rank 0", fmt::join(members, ", ")));
      case OrderKind::step_end:
        next_ = order.phase;
        ended_ = true;
        ++step_;
        return;
      case OrderKind::bucket:
        partial_.tensors.insert(partial_.tensors.end(), members.begin(), members.end());
        if (order.more != 0) return;
        partial_.begin = order.begin;
        partial_.end = order.end;
        launch.push_back({order.task, std::exchange(partial_, {})});
    }
  }

  const TrainingRequest& request_;
  bool opens_;  ///< an iteration begins with a collective
  Outbox outbox_;
  Inbox<Order> orders_;
  Bucket partial_;  ///< of a bucket whose list goes on
  Phase next_ = Phase::stop;
  bool ended_ = true;
  bool announced_ = false;  ///< something, in this step
  int step_ = 0;
  Clock::time_point last_order_;
};

}  // namespace

std::unique_ptr<Negotiator> make_worker_side(const TrainingRequest& request, Transport& transport,
                                             const StepPlan& plan) {
  return std::make_unique<WorkerSide>(request, transport, plan);
}

Error late_ranks(int step, Seconds timeout, std::string_view what) {
  return {ExitCode::lost_rank, fmt::format("step {}: waited {} for {}", step, format(timeout), what),
          "see what that rank said last; if it is only slow, allow more time"};
}

}  // namespace hbench
