#include <deque>
#include <stdexcept>

#include "workloads/engine/negotiator.hpp"

namespace hbench {
namespace {

/// What follows an iteration where no order of rank 0's ends it on all ranks. One worker's; used by one thread at a
/// time, iteration after iteration.
class Pacer {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Pacer() = default;
  /// An iteration of the job begins.
  virtual void begin(Clock::time_point at) = 0;
  /// Nothing is left to do in this iteration.
  virtual void end() = 0;
  /// Sends and receives what it can, without blocking. \throws Error (lost_rank) when rank 0 has been silent for too
  /// long.
  virtual void poll() = 0;
  /// Once the iteration has ended: what comes next, or none while that is not known.
  virtual std::optional<Phase> next() const = 0;
  /// Whether a message may arrive that lets `next` be known.
  virtual bool expects_messages() const = 0;
  /// The job is over: waits until the last message has left.
  virtual void finish() = 0;
};

/// For workers that wait for their neighbours: all do the same iterations. Rank 0 decides of each one, some iterations
/// before it can begin anywhere, so that nobody waits for the decision. The references outlive it.
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
    if (seconds_since(*waits_since_) > patience.value) throw late_ranks(progress_.steps, patience, "rank 0");
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

/// For workers that wait for nobody: each does the timed steps at its own pace, and goes on untimed until rank 0 has
/// received from all that they have done theirs, so that no step is timed beside fewer ranks. The references outlive
/// it.
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
  static Seconds since(Clock::time_point begin) { return Seconds(seconds_since(begin)); }

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
  Seconds now() const { return Seconds(seconds_since(begun_)) / request_.dilation; }

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
  std::unique_ptr<Pacer> pacer;
  if (exchanges_among(plan, Among::neighbours))
    pacer = std::make_unique<LeadingPacer>(request, transport, plan);
  else
    pacer = std::make_unique<OwnPacer>(request, transport);
  return std::make_unique<FreeSide>(request, layout, plan, std::move(pacer));
}

}  // namespace hbench
