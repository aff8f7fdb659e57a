#include "collectives/transport/peer_memory.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/transport/slot_pool.hpp"

namespace hbench {
namespace {

/// Beyond what endpoints reserve for messages of their own (`Endpoint::reserve_tag`).
constexpr int kNoticeTags = 30000;
constexpr int kAcknowledgementTag = 29999;
/// How long a rank that leaves goes on sending the acknowledgements that are in flight.
constexpr std::chrono::milliseconds kFlushTimeout{200};

/// From the sender: where the payload lies.
struct Notice {
  MemoryHandle memory;
  std::uint64_t bytes = 0;
  std::uint64_t parcel = 0;  ///< the sender's number for it
};

/// From the receiver: the payload was read.
struct Acknowledgement {
  std::uint64_t parcel = 0;
};

class PeerMemoryTransport final : public Transport {
 public:
  PeerMemoryTransport(Transport& control, Device& device, PeerMemory& memory)
      : control_(control), device_(device), memory_(memory), peers_(static_cast<std::size_t>(control.size())) {}

  ~PeerMemoryTransport() override {
    for (const Request request : slots_.taken()) cancel(request);
    flush();
    for (SentAcknowledgement& each : acknowledgements_) control_.cancel(each.request);
    for (Peer& peer : peers_)
      if (peer.expected) control_.cancel(*peer.expected);
  }

  Rank rank() const override { return control_.rank(); }
  int size() const override { return control_.size(); }
  Device& device() override { return device_; }

  Request send(Rank to, int tag, std::span<const std::byte> payload) override {
    Event event = device_.record_event();  // first: when the device fails, nothing is sent
    const Request request = slots_.take();
    Slot& slot = slots_[request];
    slot = {.is_send = true, .peer = to, .tag = tag, .payload = payload, .event = std::move(event)};
    slot.notice.bytes = payload.size();
    slot.notice.parcel = ++parcels_;
    if (!payload.empty()) slot.notice.memory = memory_.handle_of(payload);
    unannounced_.push_back(request);
    progress();
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
    progress();
    Slot& slot = slots_[request];
    if (!(slot.is_send ? sent(slot) : received(slot))) return false;
    slot.event = nullptr;
    slots_.give_back(request);
    return true;
  }

  void cancel(Request request) override {
    Slot& slot = slots_[request];
    if (slot.is_send) {
      std::erase(unannounced_, request);
      peers_[static_cast<std::size_t>(slot.peer)].unread.erase(slot.notice.parcel);
      // A notice that was sent cannot be cancelled: its reader will be stopped, and the memory is kept until then.
      if (slot.control) control_.cancel(*slot.control);
    } else if (slot.control) {
      control_.cancel(*slot.control);
    } else {
      synchronize_noexcept(device_, slot.event);
    }
    slot.event = nullptr;
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
    Event event{};  ///< of a send: after the payload was written; of a receive: after it was read
    Notice notice{};
    std::optional<Request> control{};  ///< the notice's, while it is in flight
    bool read = false;                 ///< of a send: by its receiver
  };
  struct SentAcknowledgement {
    Acknowledgement content;
    Request request;
  };
  /// A rank to which messages were sent.
  struct Peer {
    std::map<std::uint64_t, Request> unread;  ///< that were announced, by parcel
    Acknowledgement acknowledgement;
    std::optional<Request> expected;  ///< the acknowledgement, while there are unread ones
  };

  /// Progresses all messages, so that their order does not depend on which is tested.
  void progress() {
    announce();
    receive_acknowledgements();
    progress_acknowledgements();
  }

  /// Sends notices of payloads that are written, in the order of the sends, since that is how they are matched.
  void announce() {
    for (; !unannounced_.empty(); unannounced_.pop_front()) {
      const Request request = unannounced_.front();
      Slot& slot = slots_[request];
      if (!device_.query(slot.event)) return;
      slot.control = control_.send(slot.peer, kNoticeTags + slot.tag, as_message(slot.notice));
      peers_[static_cast<std::size_t>(slot.peer)].unread.emplace(slot.notice.parcel, request);
    }
  }

  /// Posts receives only for ranks that have messages to acknowledge. One look costs as much as there are ranks,
  /// however many messages there are: every message's `test` has one.
  void receive_acknowledgements() {
    for (std::size_t rank = 0; rank < peers_.size(); ++rank)
      while (!peers_[rank].unread.empty() && receive_acknowledgement(static_cast<Rank>(rank), peers_[rank])) {
      }
  }

  /// Whether one has come.
  bool receive_acknowledgement(Rank rank, Peer& peer) {
    if (!peer.expected) peer.expected = control_.receive(rank, kAcknowledgementTag, as_message(peer.acknowledgement));
    if (!control_.test(*peer.expected)) return false;
    peer.expected.reset();
    // A message that was cancelled meanwhile is not there any more.
    if (const auto read = peer.unread.extract(peer.acknowledgement.parcel); read) slots_[read.mapped()].read = true;
    return true;
  }

  /// Sends the acknowledgements that peers may still wait for.
  void flush() noexcept {
    const auto end = std::chrono::steady_clock::now() + kFlushTimeout;
    try {
      while (!progress_acknowledgements() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    } catch (const Error&) {
      // The job was stopped: nobody waits.
    }
  }

  bool progress_acknowledgements() {
    std::erase_if(acknowledgements_, [this](SentAcknowledgement& each) { return control_.test(each.request); });
    return acknowledgements_.empty();
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
    if (!device_.query(slot.event)) return false;
    SentAcknowledgement& sent = acknowledgements_.emplace_back();
    sent.content.parcel = slot.notice.parcel;
    sent.request = control_.send(slot.peer, kAcknowledgementTag, as_message(sent.content));
    return true;
  }

  /// Reads the payload in the sender's memory.
  void take(Slot& slot) {
    const auto bytes = static_cast<std::size_t>(slot.notice.bytes);
    if (bytes != slot.landing.size()) refuse_length(slot.peer, rank(), bytes, slot.landing.size());
    const std::span<const std::byte> payload(bytes > 0 ? memory_.open(slot.notice.memory) : nullptr, bytes);
    if (slot.sink != nullptr)
      slot.sink->take(payload, slot.message);
    else
      device_.copy(payload, slot.landing);
    slot.event = device_.record_event();
  }

  Transport& control_;
  Device& device_;
  PeerMemory& memory_;
  SlotPool<Slot> slots_;
  std::deque<Request> unannounced_;                  ///< sends whose data may not be there yet, in order
  std::vector<Peer> peers_;                          ///< by rank
  std::list<SentAcknowledgement> acknowledgements_;  ///< in flight
  std::uint64_t parcels_ = 0;
};

}  // namespace

std::unique_ptr<Transport> make_peer_memory_transport(Transport& control, Device& device, PeerMemory& memory) {
  return std::make_unique<PeerMemoryTransport>(control, device, memory);
}

}  // namespace hbench
