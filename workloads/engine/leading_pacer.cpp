#include <deque>

#include "workloads/engine/mail.hpp"
#include "workloads/engine/negotiator.hpp"
#include "workloads/engine/pacer.hpp"
#include "workloads/engine/phase.hpp"

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
    for (int i = 0; i <= most_ahead(graph_of(plan), request.world.workers); ++i) decide();
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

}  // namespace

std::unique_ptr<Pacer> make_leading_pacer(const TrainingRequest& request, Transport& transport, const StepPlan& plan) {
  return std::make_unique<LeadingPacer>(request, transport, plan);
}

}  // namespace hbench
