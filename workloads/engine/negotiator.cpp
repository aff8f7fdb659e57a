#include "workloads/engine/negotiator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "collectives/base/units_text.hpp"
#include "collectives/transport/transport.hpp"
#include "workloads/engine/messages.hpp"

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
    const double silence = seconds_since(last_order_);
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

/// For the last messages of a job that fails. A rank that does not take its message within this time is not informed.
constexpr Seconds kFarewell{0.5};

/// The coordinator's decisions, with the messages that carry them to the other ranks.
class CoordinatorSide final : public Negotiator {
 public:
  CoordinatorSide(const TrainingRequest& request, Transport& transport, const GradientLayout& layout,
                  const StepPlan& plan)
      : request_(request),
        transport_(transport),
        plan_(plan),
        coordinator_(StepProgress(plan, request.strategy.fusion, layout.bytes()), request.world.workers),
        outbox_(transport),
        progress_(begin_of(request, plan.start())) {
    for (Rank worker = 1; worker < request.world.workers; ++worker) {
      inboxes_.push_back(std::make_unique<Inbox<Announcement>>(transport, worker, kAnnouncementTag));
    }
  }

  void begin_step(Clock::time_point at, int iteration) override {
    begun_ = last_announcement_ = at;
    if (!job_begun_) job_begun_ = at;
    ends_cycle_ = (iteration + 1 + exchange_lag(plan_, iteration)) % plan_.cycle() == 0;
    end_sent_ = false;
    for (const auto& inbox : inboxes_) inbox->expect();
    order(coordinator_.begin_step(iteration));
  }

  void announce(int task, std::span<const int> tensors) override {
    if (tensors.empty()) return;
    last_announcement_ = Clock::now();
    order(coordinator_.announced(0, task, tensors, now()));
  }

  std::vector<LeavingBucket> poll(std::span<const int> completed, int in_flight) override {
    outbox_.progress();
    receive_announcements();
    for (const int task : completed) order(coordinator_.bucket_done(task, now()));
    order(coordinator_.tick(now()));
    if (coordinator_.stuck(in_flight + static_cast<int>(launch_.size()))) {
      throw std::logic_error("the fusion policy keeps gradients back");
    }
    if (coordinator_.all_launched() && !end_sent_) end_step();
    keep_alive();
    check_silence();
    return std::exchange(launch_, {});
  }

  std::optional<Clock::time_point> wakeup() const override {
    const std::optional<Seconds> due = coordinator_.wakeup();
    if (!due) return std::nullopt;
    const std::chrono::duration<double> since_begin(due->value * request_.dilation);
    return begun_ + std::chrono::duration_cast<Clock::duration>(since_begin);
  }

  bool expects_messages() const override { return coordinator_.waits_for_others(0); }

  void report_missing() override {
    if (coordinator_.missing(0) > 0) return;
    std::vector<Rank> late;
    for (Rank worker = 1; worker < request_.world.workers; ++worker) {
      if (coordinator_.missing(worker) > 0) late.push_back(worker);
    }
    if (late.empty()) return;
    abort(late);
    throw late_ranks(progress_.steps, request_.timeout, fmt::format("the gradients of rank {}", fmt::join(late, ", ")));
  }

  bool all_launched() const override { return end_sent_; }
  Phase next() const override { return next_; }

  void finish() override { flush(outbox_, request_.timeout, "ending the job"); }

  void abort(std::span<const Rank> late) override {
    Order message{.kind = OrderKind::abort};
    // One message for all: of very many late ranks the first are named.
    const auto sets = to_sets<Order::Members>({late.begin(), late.end()});
    if (!sets.empty()) message.members = sets.front();
    for (Rank rank = 1; rank < transport_.size(); ++rank) {
      if (std::ranges::find(late, rank) == late.end()) outbox_.send(rank, kOrderTag, message);
    }
    try {
      flush(outbox_, kFarewell, "ending the job early");
    } catch (const Error&) {
      // A late rank's messages cannot leave; the error that the caller throws says why.
    }
  }

 private:
  Seconds since(Clock::time_point begin) const { return Seconds(seconds_since(begin)); }
  /// For the fusion policy.
  Seconds now() const { return since(begun_) / request_.dilation; }

  void receive_announcements() {
    for (const auto& inbox : inboxes_) {
      while (const auto message = inbox->poll()) {
        last_announcement_ = Clock::now();
        order(coordinator_.announced(inbox->from(), message->task, message->numbers(), now()));
        if (coordinator_.to_come(inbox->from()) > 0) inbox->expect();
      }
    }
  }

  void broadcast(const Order& message) {
    for (Rank rank = 1; rank < transport_.size(); ++rank) outbox_.send(rank, kOrderTag, message);
    last_broadcast_ = Clock::now();
  }

  void order(std::vector<LeavingBucket> buckets) {
    for (LeavingBucket& leaving : buckets) {
      broadcast_bucket(leaving.task, leaving.bucket);
      launch_.push_back(std::move(leaving));
    }
  }

  void broadcast_bucket(int task, const Bucket& bucket) {
    const auto sets = to_sets<Order::Members>(bucket.tensors);
    for (std::size_t i = 0; i < sets.size(); ++i)
      broadcast({.kind = OrderKind::bucket,
                 .task = task,
                 .more = i + 1 < sets.size() ? 1 : 0,
                 .begin = bucket.begin,
                 .end = bucket.end,
                 .members = sets[i]});
  }

  void end_step() {
    if (ends_cycle_) {
      progress_.count(phase_, plan_.cycle());
      progress_.elapsed = since(*job_begun_);
      phase_ = next_ = next_phase(request_, progress_);
    }
    broadcast({.kind = OrderKind::step_end, .phase = next_});
    end_sent_ = true;
  }

  /// So that a long step is no time-out for ranks that wait for orders.
  void keep_alive() {
    if (!end_sent_ && since(last_broadcast_) > request_.timeout / 4) broadcast({});
  }

  void check_silence() {
    if (since(last_announcement_) > request_.timeout) report_missing();
  }

  const TrainingRequest& request_;
  Transport& transport_;
  const StepPlan& plan_;
  Coordinator coordinator_;
  Outbox outbox_;
  std::vector<std::unique_ptr<Inbox<Announcement>>> inboxes_;  ///< of workers 1, 2, ...
  std::vector<LeavingBucket> launch_;
  JobProgress progress_;
  Phase phase_ = next_phase(request_, progress_);  ///< of this cycle
  Phase next_ = phase_;
  bool ends_cycle_ = true;
  bool end_sent_ = true;
  std::optional<Clock::time_point> job_begun_;
  Clock::time_point begun_, last_announcement_, last_broadcast_ = Clock::now();
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

std::unique_ptr<Negotiator> make_coordinator_side(const TrainingRequest& request, Transport& transport,
                                                  const GradientLayout& layout, const StepPlan& plan) {
  return std::make_unique<CoordinatorSide>(request, transport, layout, plan);
}

}  // namespace hbench
