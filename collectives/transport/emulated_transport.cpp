#include "collectives/transport/emulated_transport.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "collectives/schedule/schedule.hpp"
#include "collectives/transport/slot_pool.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

Clock::duration in_ticks(Seconds time) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time.value));
}

class EmulatedTransport final : public Transport {
 public:
  EmulatedTransport(Transport& inner, EmulatedCosts costs) : inner_(inner), costs_(std::move(costs)) {
    server_seconds_per_byte_ = costs_.server_seconds_per_byte.at(static_cast<std::size_t>(inner_.rank()));
  }

  Rank rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  Device& device() override { return inner_.device(); }
  void next_is(TransferKind kind) override { kind_ = kind; }

  Request send(Rank to, int tag, std::span<const std::byte> payload) override {
    const Request request = slots_.take();
    Slot& slot = slots_[request];
    slot = {.peer = to, .tag = tag, .payload = payload};
    slot.served = is_served(to, TransferKind::copy);
    if (!slot.served) {
      slot.inner = inner_.send(to, tag, payload);
      slot.stage = Stage::under_way;
      return request;
    }
    // The server and the link work at the same time: what leaves then arrives when the server has handled all of it.
    slot.due = std::max(Clock::now(), handled(Clock::now(), payload.size()) - on_the_link(to, payload.size()));
    slot.stage = Stage::held;
    held_.push_back(request);
    send_what_is_due();
    return request;
  }

  Request receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink, std::size_t message) override {
    const Request request = slots_.take();
    Slot& slot = slots_[request];
    slot = {.peer = from, .tag = tag, .landing = landing, .sink = sink, .message = message};
    slot.receives = true;
    slot.served = is_served(from, TransferKind::reduce);
    slot.inner = inner_.receive(from, tag, landing);
    slot.stage = Stage::under_way;
    expected_.push_back(request);
    return request;
  }

  bool test(Request request) override {
    send_what_is_due();
    look_for_arrivals(request);
    Slot& slot = slots_[request];
    if (slot.stage == Stage::held) return false;
    if (!slot.receives) {
      if (!inner_.test(slot.inner)) return false;
    } else {
      if (slot.stage == Stage::under_way || Clock::now() < slot.due) return false;
      if (slot.sink != nullptr) slot.sink->take(slot.landing, slot.message);
    }
    slots_.give_back(request);
    return true;
  }

  void cancel(Request request) override {
    const Slot& slot = slots_[request];
    if (slot.stage == Stage::under_way) inner_.cancel(slot.inner);
    std::erase(held_, request);
    std::erase(expected_, request);
    slots_.give_back(request);
  }

 private:
  enum class Stage { held, under_way, arrived };
  struct Slot {
    Rank peer = 0;
    int tag = 0;
    std::span<const std::byte> payload = {};
    std::span<std::byte> landing = {};
    Sink* sink = nullptr;
    std::size_t message = 0;
    Request inner = 0;
    Stage stage = Stage::held;
    bool receives = false;
    bool served = false;
    Clock::time_point due = {};  ///< a held message leaves, an arrived one is there
  };

  bool is_local(Rank peer) const {
    return costs_.node_of_rank.at(static_cast<std::size_t>(peer)) ==
           costs_.node_of_rank.at(static_cast<std::size_t>(inner_.rank()));
  }

  /// Whether this rank handles the next message as a server: it takes pushes, which are added up, and sends pulls.
  bool is_served(Rank peer, TransferKind when) const {
    return server_seconds_per_byte_ > 0 && kind_ == when && !(costs_.groups && is_local(peer));
  }

  /// When the server has handled a message that it began with at `begin` at the soonest.
  Clock::time_point handled(Clock::time_point begin, std::size_t bytes) {
    server_free_ =
        std::max(server_free_, begin) + in_ticks(Seconds(server_seconds_per_byte_ * static_cast<double>(bytes)));
    return server_free_;
  }

  Clock::duration on_the_link(Rank peer, std::size_t bytes) const {
    const EmulatedCosts::Hop& hop = is_local(peer) ? costs_.local : costs_.network;
    return in_ticks(Seconds(hop.seconds_per_byte * static_cast<double>(bytes)));
  }

  void send_what_is_due() {
    while (!held_.empty()) {
      Slot& slot = slots_[held_.front()];
      if (Clock::now() < slot.due) return;
      slot.inner = inner_.send(slot.peer, slot.tag, slot.payload);
      slot.stage = Stage::under_way;
      held_.pop_front();
    }
  }

  /// A message counts as arrived when it is looked for: all of them now and then, and `asked` always.
  void look_for_arrivals(Request asked) {
    constexpr Clock::duration kBetweenLooks = std::chrono::microseconds(50);
    const Clock::time_point now = Clock::now();
    const bool at_all = now - last_look_ >= kBetweenLooks;
    if (at_all) last_look_ = now;
    std::erase_if(expected_, [&](Request request) {
      if (!at_all && request != asked) return false;
      Slot& slot = slots_[request];
      if (!inner_.test(slot.inner)) return false;
      arrive(slot, now);
      return true;
    });
  }

  void arrive(Slot& slot, Clock::time_point now) {
    slot.stage = Stage::arrived;
    slot.due = now;
    const std::size_t bytes = slot.landing.size();
    if (slot.served) slot.due = std::max(now, handled(now - on_the_link(slot.peer, bytes), bytes));
    slot.due += in_ticks(std::max(Seconds(0), costs_.latency(is_local(slot.peer), bytes) - costs_.noticed_late));
  }

  Transport& inner_;
  EmulatedCosts costs_;
  double server_seconds_per_byte_ = 0;  ///< of this rank
  TransferKind kind_ = TransferKind::copy;
  SlotPool<Slot> slots_;
  std::vector<Request> expected_;  ///< receives that have not arrived
  std::deque<Request> held_;       ///< sends that have not left, in their order
  Clock::time_point server_free_{};
  Clock::time_point last_look_{};
};

}  // namespace

Seconds EmulatedCosts::latency(bool local_hop, std::size_t bytes) const {
  const Hop& hop = local_hop ? local : network;
  if (hop.low_latency.value <= 0) return hop.latency;
  return std::min(hop.latency, hop.low_latency + Seconds(hop.seconds_per_byte * static_cast<double>(bytes)));
}

std::unique_ptr<Transport> make_emulated_transport(Transport& inner, EmulatedCosts costs) {
  return std::make_unique<EmulatedTransport>(inner, std::move(costs));
}

}  // namespace hbench
