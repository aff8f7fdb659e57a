#include "workloads/engine/pacer.hpp"

#include <fmt/format.h>

#include <deque>

#include "workloads/engine/messages.hpp"
#include "workloads/engine/negotiator.hpp"
#include "workloads/engine/phase.hpp"
#include "workloads/methods/step_plan.hpp"

namespace hbench {
namespace {

class LeadingPacer final : public Pacer {
 public:
  LeadingPacer(const TrainingRequest& request, Transport& transport, const StepPlan& plan)
      : request_(request),
        transport_(transport),
        outbox_(transport),
        orders_(transport, 0, kOrderTag),
        progress_{.start = plan.start()},
        last_(next_phase(request, progress_)) {
    // Whoever decides, the first ones are the same on all ranks: no time has passed.
    for (int i = 0; i <= most_ahead(request.world.workers); ++i) decide();
  }

  void begin(Clock::time_point at) override {
    if (!job_begun_) {
      job_begun_ = at;
    } else {
      phases_.pop_front();
      if (leads()) decide_and_say(at);
    }
    waits_since_.reset();
    if (!leads() && last_ != Phase::stop) orders_.expect();
  }

  void end() override {
    if (phases_.empty() && !waits_since_) waits_since_ = Clock::now();
  }

  void poll() override {
    outbox_.progress();
    while (const auto order = orders_.poll()) {
      last_ = order->phase;
      phases_.push_back(last_);
      if (last_ != Phase::stop) orders_.expect();
    }
    if (!phases_.empty() || !waits_since_) return;
    const Seconds patience = request_.timeout * kMorePatience;
    if (std::chrono::duration<double>(Clock::now() - *waits_since_).count() > patience.value)
      throw late_ranks(progress_.steps, patience, "rank 0");
  }

  std::optional<Phase> next() const override { return phases_.empty() ? std::nullopt : std::optional(phases_.front()); }
  bool expects_messages() const override { return phases_.empty(); }
  void finish() override { flush(outbox_, request_.timeout, "ending the job"); }

 private:
  bool leads() const { return transport_.rank() == 0; }

  void decide() {
    if (last_ == Phase::stop) return;
    progress_.count(last_);
    phases_.push_back(last_ = next_phase(request_, progress_));
  }

  void decide_and_say(Clock::time_point now) {
    if (last_ == Phase::stop) return;
    progress_.elapsed = Seconds(std::chrono::duration<double>(now - *job_begun_).count());
    decide();
    for (Rank rank = 1; rank < request_.world.workers; ++rank)
      outbox_.send(rank, kOrderTag, Order{.kind = OrderKind::step_end, .phase = last_});
  }

  const TrainingRequest& request_;
  Transport& transport_;
  Outbox outbox_;
  Inbox<Order> orders_;
  JobProgress progress_;      ///< of what is decided
  Phase last_;                ///< that was decided
  std::deque<Phase> phases_;  ///< of the iterations after this one, as far as they are decided
  std::optional<Clock::time_point> job_begun_, waits_since_;
};

class OwnPacer final : public Pacer {
 public:
  OwnPacer(const TrainingRequest& request, Transport& transport)
      : request_(request),
        transport_(transport),
        outbox_(transport),
        orders_(transport, 0, kOrderTag),
        phase_(next_phase(request, progress_)) {
    if (leads())
      for (Rank worker = 1; worker < request.world.workers; ++worker)
        workers_.push_back({.inbox = std::make_unique<Inbox<Progress>>(transport, worker, kProgressTag)});
  }

  void begin(Clock::time_point at) override {
    if (begun_) return;
    begun_ = last_said_ = last_order_ = last_end_ = at;
    if (!leads()) orders_.expect();
    for (Worker& worker : workers_) {
      worker.inbox->expect();
      worker.last_message = at;
    }
  }

  // A timed iteration is never the last: that one waits until all ranks have left.
  void end() override {
    last_end_ = Clock::now();
    if (phase_ == Phase::untimed) {
      if (over_) phase_ = Phase::stop;
      return;
    }
    progress_.count(phase_);
    progress_.elapsed = since(*begun_);
    phase_ = next_phase(request_, progress_);
    const bool done = phase_ == Phase::stop;
    if (done) phase_ = Phase::untimed;
    done_ = done;
    if (!leads()) outbox_.send(0, kProgressTag, Progress{.iterations = progress_.steps, .done = done ? 1 : 0});
  }

  void poll() override {
    outbox_.progress();
    leads() ? lead() : follow();
  }

  std::optional<Phase> next() const override { return phase_; }
  bool expects_messages() const override { return false; }
  void finish() override { flush(outbox_, request_.timeout, "ending the job"); }

 private:
  /// From a worker to rank 0, after each iteration until its steps are done.
  struct Progress {
    std::int32_t iterations = 0, done = 0;
  };
  struct Worker {
    std::unique_ptr<Inbox<Progress>> inbox;
    Clock::time_point last_message = {};
    bool done = false;
  };

  bool leads() const { return transport_.rank() == 0; }
  static Seconds since(Clock::time_point begin) {
    return Seconds(std::chrono::duration<double>(Clock::now() - begin).count());
  }

  void say(const Order& order) {
    for (Rank rank = 1; rank < request_.world.workers; ++rank) outbox_.send(rank, kOrderTag, order);
    last_said_ = Clock::now();
  }

  void lead() {
    bool all_done = done_;
    for (Worker& worker : workers_) {
      while (const auto message = worker.inbox->poll()) {
        worker.last_message = Clock::now();
        worker.done = message->done != 0;
        if (!worker.done) worker.inbox->expect();
      }
      all_done = all_done && worker.done;
    }
    if (over_) return;
    if (all_done) {
      over_ = true;
      say({.kind = OrderKind::step_end});
    } else if (since(last_said_) > request_.timeout / 4) {
      say({});
    }
    check_silence();
  }

  /// Where this rank's own iteration does not end either, whoever it waits for finds out better.
  void check_silence() {
    if (since(last_end_) > request_.timeout) return;
    std::vector<Rank> silent;
    for (std::size_t i = 0; i < workers_.size(); ++i)
      if (!workers_[i].done && since(workers_[i].last_message) > request_.timeout)
        silent.push_back(static_cast<Rank>(i) + 1);
    if (!silent.empty()) throw late_ranks(progress_.steps, request_.timeout, text_of_ranks(silent));
  }

  void follow() {
    while (const auto order = orders_.poll()) {
      last_order_ = Clock::now();
      over_ = order->kind == OrderKind::step_end;
      if (!over_) orders_.expect();
    }
    const Seconds patience = request_.timeout * kMorePatience;
    if (!over_ && since(last_order_) > patience) throw late_ranks(progress_.steps, patience, "rank 0");
  }

  const TrainingRequest& request_;
  Transport& transport_;
  Outbox outbox_;
  Inbox<Order> orders_;
  std::vector<Worker> workers_;  ///< of rank 0: 1, 2, ...
  JobProgress progress_;
  Phase phase_;  ///< of the iteration that runs or, once it has ended, of the next
  bool done_ = false, over_ = false;
  std::optional<Clock::time_point> begun_;
  Clock::time_point last_said_, last_order_, last_end_;
};

}  // namespace

std::unique_ptr<Pacer> make_leading_pacer(const TrainingRequest& request, Transport& transport, const StepPlan& plan) {
  return std::make_unique<LeadingPacer>(request, transport, plan);
}

std::unique_ptr<Pacer> make_own_pacer(const TrainingRequest& request, Transport& transport) {
  return std::make_unique<OwnPacer>(request, transport);
}

}  // namespace hbench
