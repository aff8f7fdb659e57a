#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "collectives/executors/wait.hpp"
#include "workloads/engine/coordinator.hpp"
#include "workloads/engine/mail.hpp"
#include "workloads/engine/phase.hpp"
#include "workloads/engine/role.hpp"

namespace hbench {
namespace {

/// Best effort: who does not take the news within this time will not hear it.
constexpr Seconds kFarewell{0.5};

class Leader final : public Role {
 public:
  Leader(const TrainingRequest& request, Transport& transport, const GradientLayout& layout)
      : request_(request),
        transport_(transport),
        coordinator_(request.fusion.make(layout.bytes()), layout.bytes(), request.world.workers),
        outbox_(transport) {
    for (Rank worker = 1; worker < request.world.workers; ++worker) {
      inboxes_.push_back(std::make_unique<Inbox<Announcement>>(transport, worker, kAnnouncementTag));
    }
  }

  void begin_step(Clock::time_point at) override {
    begun_ = heard_ = at;
    if (progress_.steps == 0) job_begun_ = at;
    phase_ = progress_.steps == 0 ? next_phase(request_, progress_) : next_;
    end_sent_ = false;
    for (const auto& inbox : inboxes_) inbox->expect();
    order(coordinator_.begin_step());
  }

  void announce(std::span<const int> tensors) override {
    if (tensors.empty()) return;
    heard_ = Clock::now();
    order(coordinator_.announced(0, tensors, now()));
  }

  std::vector<Bucket> poll(int completed, int in_flight) override {
    outbox_.progress();
    listen();
    for (; completed > 0; --completed) order(coordinator_.bucket_done(now()));
    order(coordinator_.tick(now()));
    if (coordinator_.stuck(in_flight + static_cast<int>(launch_.size()))) {
      throw std::logic_error("the fusion policy keeps gradients back");
    }
    if (coordinator_.all_launched() && !end_sent_) end_step();
    keep_alive();
    check_silence();
    return std::exchange(launch_, {});
  }

  void blame_missing() override {
    if (coordinator_.missing(0) > 0) return;
    std::vector<Rank> late;
    for (Rank worker = 1; worker < request_.world.workers; ++worker) {
      if (coordinator_.missing(worker) > 0) late.push_back(worker);
    }
    if (late.empty()) return;
    give_up(late);
    throw late_ranks(progress_.steps, request_.timeout, fmt::format("the gradients of rank {}", fmt::join(late, ", ")));
  }

  bool all_launched() const override { return end_sent_; }
  Phase next() const override { return next_; }

  void finish() override { flush(outbox_, request_.timeout, "ending the job"); }

  void give_up(std::span<const Rank> late) override {
    Order message{.kind = OrderKind::give_up};
    // One message for all: of very many late ranks the first are named.
    const auto sets = to_sets<Order::Members>({late.begin(), late.end()});
    if (!sets.empty()) message.members = sets.front();
    for (Rank rank = 1; rank < transport_.size(); ++rank) {
      if (std::ranges::find(late, rank) == late.end()) outbox_.send(rank, kOrderTag, message);
    }
    try {
      flush(outbox_, kFarewell, "saying that the job ends");
    } catch (const Error&) {
      // The late rank's mail cannot leave; the error that is on its way says why.
    }
  }

 private:
  Seconds since(Clock::time_point begin) const {
    return Seconds(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  Seconds now() const { return since(begun_); }

  void listen() {
    for (const auto& inbox : inboxes_) {
      while (const auto message = inbox->poll()) {
        heard_ = Clock::now();
        order(coordinator_.announced(inbox->from(), message->numbers(), now()));
        if (coordinator_.missing(inbox->from()) > 0) inbox->expect();
      }
    }
  }

  void broadcast(const Order& message) {
    for (Rank rank = 1; rank < transport_.size(); ++rank) outbox_.send(rank, kOrderTag, message);
    spoken_ = Clock::now();
  }

  void order(std::vector<Bucket> buckets) {
    for (Bucket& bucket : buckets) {
      broadcast_bucket(bucket);
      launch_.push_back(std::move(bucket));
    }
  }

  void broadcast_bucket(const Bucket& bucket) {
    const auto sets = to_sets<Order::Members>(bucket.tensors);
    for (std::size_t i = 0; i < sets.size(); ++i)
      broadcast({.kind = OrderKind::bucket,
                 .more = i + 1 < sets.size() ? 1 : 0,
                 .begin = bucket.begin,
                 .end = bucket.end,
                 .members = sets[i]});
  }

  void end_step() {
    progress_.count(phase_);
    progress_.elapsed = since(job_begun_);
    next_ = next_phase(request_, progress_);
    broadcast({.kind = OrderKind::step_end, .phase = next_});
    end_sent_ = true;
  }

  void keep_alive() {
    if (!end_sent_ && since(spoken_) > request_.timeout / 4) broadcast({});
  }

  void check_silence() {
    if (since(heard_) > request_.timeout) blame_missing();
  }

  const TrainingRequest& request_;
  Transport& transport_;
  Coordinator coordinator_;
  Outbox outbox_;
  std::vector<std::unique_ptr<Inbox<Announcement>>> inboxes_;  ///< of workers 1, 2, ...
  std::vector<Bucket> launch_;
  JobProgress progress_;
  Phase phase_ = Phase::warmup;
  Phase next_ = Phase::stop;
  bool end_sent_ = true;
  Clock::time_point job_begun_, begun_, heard_, spoken_ = Clock::now();
};

}  // namespace

std::unique_ptr<Role> make_leader(const TrainingRequest& request, Transport& transport, const GradientLayout& layout) {
  return std::make_unique<Leader>(request, transport, layout);
}

}  // namespace hbench
