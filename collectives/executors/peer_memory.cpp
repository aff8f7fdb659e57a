#include "collectives/executors/peer_memory.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <optional>
#include <thread>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/executors/slot_pool.hpp"

namespace hbench {
namespace {

/// Beyond what endpoints reserve for messages of their own (`Endpoint::reserve_tag`).
constexpr int kNoticeTags = 30000;
constexpr int kReadTag = 29999;
/// For what is still under way when a rank leaves.
constexpr std::chrono::milliseconds kFarewell{200};

/// From the sender: here it lies.
struct Notice {
  MemoryHandle memory;
  std::uint64_t bytes = 0;
  std::uint64_t parcel = 0;  ///< the sender's number for it
};

/// From the receiver: it was read.
struct Read {
  std::uint64_t parcel = 0;
};

class PeerMemoryTransport final : public Transport {
 public:
  PeerMemoryTransport(Transport& control, Device& device, PeerMemory& memory)
      : control_(control), device_(device), memory_(memory), from_(static_cast<std::size_t>(control.size())) {}

  ~PeerMemoryTransport() override {
    for (const Request request : slots_.taken()) cancel(request);
    take_leave();
    for (Letter& letter : reads_sent_) control_.cancel(letter.request);
    for (Peer& peer : from_)
      if (peer.expected) control_.cancel(*peer.expected);
  }
  PeerMemoryTransport(const PeerMemoryTransport&) = delete;
  PeerMemoryTransport& operator=(const PeerMemoryTransport&) = delete;

  Rank rank() const override { return control_.rank(); }
  int size() const override { return control_.size(); }
  Device& device() override { return device_; }

  Request send(Rank to, int tag, std::span<const std::byte> payload) override {
    Moment mark = device_.mark();  // a device that fails sends nothing
    const Request request = slots_.take();
    Slot& slot = slots_[request];
    slot = {.is_send = true, .peer = to, .tag = tag, .payload = payload, .mark = std::move(mark)};
    slot.notice.bytes = payload.size();
    slot.notice.parcel = ++parcels_;
    if (!payload.empty()) slot.notice.memory = memory_.handle_of(payload);
    unannounced_.push_back(request);
    pump();
    return request;
  }

  Request receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink, std::size_t message) override {
    const Request request = slots_.take();
    Slot& slot = slots_[request];
    slot = {.peer = from, .tag = tag, .landing = landing, .sink = sink, .message = message};
    slot.control = control_.receive(from, kNoticeTags + tag, as_message(slot.notice));
    return request;
  }

  bool test(Request request) override {
    pump();
    Slot& slot = slots_[request];
    if (!(slot.is_send ? sent(slot) : received(slot))) return false;
    slot.mark = nullptr;
    slots_.give_back(request);
    return true;
  }

  void cancel(Request request) override {
    Slot& slot = slots_[request];
    if (slot.is_send) {
      std::erase(unannounced_, request);
      std::erase(announced_, request);
      // A notice that has left cannot be taken back: its reader will be stopped, and the memory is kept till then.
      if (slot.control) control_.cancel(*slot.control);
    } else if (slot.control) {
      control_.cancel(*slot.control);
    } else {
      settle(device_, slot.mark);
    }
    slot.mark = nullptr;
    slots_.give_back(request);
  }

 private:
  struct Slot {
    bool is_send = false;
    Rank peer = 0;
    int tag = 0;
    std::span<const std::byte> payload{};
    std::span<std::byte> landing{};
    Sink* sink = nullptr;
    std::size_t message = 0;
    Moment mark{};  ///< of a send: it was written; of a receive: it was read
    Notice notice{};
    std::optional<Request> control{};  ///< the notice's, while it is on its way
    bool read = false;                 ///< of a send: by its receiver
  };
  struct Letter {
    Read read;
    Request request;
  };
  /// What we expect of a rank that was sent something.
  struct Peer {
    Read read;
    std::optional<Request> expected;
  };

  /// Does what can be done for all messages: their order must not depend on which is tested.
  void pump() {
    announce();
    hear_of_reads();
    pump_reads_sent();
  }

  /// In the order sent, since that is how notices are matched.
  void announce() {
    for (; !unannounced_.empty(); unannounced_.pop_front()) {
      const Request request = unannounced_.front();
      Slot& slot = slots_[request];
      if (!device_.passed(slot.mark)) return;
      slot.control = control_.send(slot.peer, kNoticeTags + slot.tag, as_message(slot.notice));
      announced_.push_back(request);
    }
  }

  /// A receive is posted only where something will come.
  void hear_of_reads() {
    for (std::size_t i = 0; i < announced_.size(); ++i) {
      const Rank rank = slots_[announced_[i]].peer;
      Peer& peer = from_[static_cast<std::size_t>(rank)];
      if (!peer.expected) peer.expected = control_.receive(rank, kReadTag, as_message(peer.read));
      if (!control_.test(*peer.expected)) continue;
      peer.expected.reset();
      const auto found = std::ranges::find_if(announced_, [&](Request each) {
        return slots_[each].peer == rank && slots_[each].notice.parcel == peer.read.parcel;
      });
      if (found == announced_.end()) continue;  // cancelled meanwhile
      slots_[*found].read = true;
      announced_.erase(found);
      i = static_cast<std::size_t>(-1);  // others may have been read as well
    }
  }

  /// Peers may still wait to hear that theirs was read.
  void take_leave() noexcept {
    const auto end = std::chrono::steady_clock::now() + kFarewell;
    try {
      while (!pump_reads_sent() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    } catch (const Error&) {
      // The job was stopped: nobody waits.
    }
  }

  bool pump_reads_sent() {
    std::erase_if(reads_sent_, [this](Letter& letter) { return control_.test(letter.request); });
    return reads_sent_.empty();
  }

  bool sent(Slot& slot) {
    if (slot.control && control_.test(*slot.control)) slot.control.reset();
    return slot.read && !slot.control;
  }

  bool received(Slot& slot) {
    if (slot.control) {
      if (!control_.test(*slot.control)) return false;
      slot.control.reset();
      take(slot);
    }
    if (!device_.passed(slot.mark)) return false;
    Letter& letter = reads_sent_.emplace_back();
    letter.read.parcel = slot.notice.parcel;
    letter.request = control_.send(slot.peer, kReadTag, as_message(letter.read));
    return true;
  }

  /// Straight from the sender's memory.
  void take(Slot& slot) {
    const auto bytes = static_cast<std::size_t>(slot.notice.bytes);
    if (bytes != slot.landing.size()) refuse_length(slot.peer, rank(), bytes, slot.landing.size());
    const std::span<const std::byte> payload(bytes > 0 ? memory_.open(slot.notice.memory) : nullptr, bytes);
    if (slot.sink != nullptr)
      slot.sink->take(payload, slot.message);
    else
      device_.copy(payload, slot.landing);
    slot.mark = device_.mark();
  }

  Transport& control_;
  Device& device_;
  PeerMemory& memory_;
  SlotPool<Slot> slots_;
  std::deque<Request> unannounced_;  ///< sends whose data may not be there yet, in order
  std::vector<Request> announced_;   ///< sends that are to be read, in order
  std::vector<Peer> from_;           ///< by rank
  std::list<Letter> reads_sent_;
  std::uint64_t parcels_ = 0;
};

}  // namespace

std::unique_ptr<Transport> make_peer_memory_transport(Transport& control, Device& device, PeerMemory& memory) {
  return std::make_unique<PeerMemoryTransport>(control, device, memory);
}

}  // namespace hbench
