#include "collectives/transport/emulated_transport.hpp"

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
    slot = {.peer = to, .tag = tag, .payload = payload, .tested = looks_};
    slot.served = is_served(to, TransferKind::copy);
    if (!slot.served) {
      begin(request, inner_.send(to, tag, payload));
      return request;
    }
    // The server and the link work at the same time: what leaves then arrives when the server has handled all of it.
    const Clock::time_point now = Clock::now();
    slot.due = std::max(now, server_.sent(now, work_of(payload.size())) - on_the_link(to, payload.size()));
    slot.stage = Stage::held;
    held_.push_back(request);
    send_what_is_due();
    return request;
  }

  Request receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink, std::size_t message) override {
    const Request request = slots_.take();
    Slot& slot = slots_[request];
    slot = {.peer = from, .tag = tag, .landing = landing, .sink = sink, .message = message, .tested = looks_};
    slot.receives = true;
    slot.served = is_served(from, TransferKind::reduce);
    begin(request, inner_.receive(from, tag, landing));
    return request;
  }

  bool test(Request request) override {
    Slot& slot = slots_[request];
    // One look serves a turn of tests, as MPI's (`mpi_transport.cpp`).
    if (slot.tested == looks_) look();
    slot.tested = looks_;
    if (slot.stage != Stage::done || Clock::now() < slot.due) return false;
    if (slot.sink != nullptr) slot.sink->take(slot.landing, slot.message);
    slots_.give_back(request);
    return true;
  }

  void cancel(Request request) override {
    const Slot& slot = slots_[request];
    if (slot.stage == Stage::under_way) inner_.cancel(slot.inner);
    std::erase(held_, request);
    std::erase(under_way_, request);
    slots_.give_back(request);
  }

 private:
  enum class Stage { held, under_way, done };
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
    std::uint64_t tested = 0;    ///< after which look it was tested last, or posted
  };

  void begin(Request request, Request inner) {
    slots_[request].inner = inner;
    slots_[request].stage = Stage::under_way;
    under_way_.push_back(request);
  }

  bool is_local(Rank peer) const {
    return costs_.node_of_rank.at(static_cast<std::size_t>(peer)) ==
           costs_.node_of_rank.at(static_cast<std::size_t>(inner_.rank()));
  }

  /// Whether this rank handles the next message as a server: it takes pushes, which are added up, and sends pulls.
  bool is_served(Rank peer, TransferKind when) const {
    return server_seconds_per_byte_ > 0 && kind_ == when && !(costs_.groups && is_local(peer));
  }

  /// Returns the time that the server takes for `bytes` bytes.
  Clock::duration work_of(std::size_t bytes) const {
    return in_ticks(Seconds(server_seconds_per_byte_ * static_cast<double>(bytes)));
  }

  Clock::duration on_the_link(Rank peer, std::size_t bytes) const {
    const EmulatedCosts::Hop& hop = is_local(peer) ? costs_.local : costs_.network;
    return in_ticks(Seconds(hop.seconds_per_byte * static_cast<double>(bytes)));
  }

  void send_what_is_due() {
    while (!held_.empty()) {
      const Request request = held_.front();
      const Slot& slot = slots_[request];
      if (Clock::now() < slot.due) return;
      begin(request, inner_.send(slot.peer, slot.tag, slot.payload));
      held_.pop_front();
    }
  }

  /// A message has arrived, or left, when it is found to have.
  void look() {
    ++looks_;
    send_what_is_due();
    std::erase_if(under_way_, [&](Request request) {
      Slot& slot = slots_[request];
      if (!inner_.test(slot.inner)) return false;
      slot.stage = Stage::done;
      slot.due = slot.receives ? arrival(slot, Clock::now()) : Clock::now();
      return true;
    });
  }

  /// When a message that was found to have arrived is there.
  Clock::time_point arrival(const Slot& slot, Clock::time_point now) {
    const std::size_t bytes = slot.landing.size();
    const Clock::time_point handed =
        slot.served ? std::max(now, server_.received(now, on_the_link(slot.peer, bytes), work_of(bytes))) : now;
    return handed + in_ticks(std::max(Seconds(0), costs_.latency(is_local(slot.peer), bytes) - costs_.noticed_late));
  }

  Transport& inner_;
  EmulatedCosts costs_;
  double server_seconds_per_byte_ = 0;  ///< of this rank
  TransferKind kind_ = TransferKind::copy;
  SlotPool<Slot> slots_;
  std::vector<Request> under_way_;
  std::deque<Request> held_;  ///< sends that have not left, in their order
  ServerQueue server_;
  std::uint64_t looks_ = 0;
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
