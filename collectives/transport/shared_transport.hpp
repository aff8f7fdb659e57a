#pragma once

/// Messages between ranks that share memory. Internal to the shared-memory endpoints.

#include <deque>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/transport/shared_memory.hpp"
#include "collectives/transport/slot_pool.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

/// What ranks throw after a peer has stopped the job (threads only).
Error stopped_error(const SharedSegment& segment);

/// One rank's end, for the ranks of one host, numbered as in the segment. The receiver reads what it is sent where it
/// lies: a payload inside the segment is never copied on the way, one outside is copied into it first.
class SharedTransport final : public Transport {
 public:
  /// `segment` outlives the transport.
  explicit SharedTransport(SharedSegment& segment);
  ~SharedTransport() override;

  Rank rank() const override { return segment_.rank(); }
  int size() const override { return segment_.ranks(); }
  Request send(Rank to, int tag, std::span<const std::byte> payload) override;
  Request receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink, std::size_t message) override;
  bool test(Request request) override;
  void cancel(Request request) override;

 private:
  struct Slot {
    bool is_send = false;
    Rank peer = 0;
    int tag = 0;
    bool posted = false;        ///< a send: it is in its lane
    std::uint32_t receipt = 0;  ///< of a posted send
    std::span<const std::byte> payload;
    std::span<std::byte> copy;     ///< of a payload outside the segment; empty when there is none
    std::span<std::byte> landing;  ///< this and what follows: of a receive
    Sink* sink = nullptr;
    std::size_t message = 0;
    bool arrived = false;
  };
  /// What this rank has to do with one other.
  struct Peer {
    std::deque<Request> unposted;         ///< sends that found their lane full
    std::vector<Request> expected;        ///< receives that have nothing yet, in order
    std::deque<SharedMessage> delivered;  ///< out of the lane, and not yet taken
  };

  void release(Request request);
  Peer& peer(Rank rank) { return peers_[static_cast<std::size_t>(rank)]; }
  void post_waiting(Rank to);
  bool post(Slot& slot);
  bool free_receipt(std::uint32_t& receipt);
  void empty_lane(Rank from);
  void collect(Request last);
  bool next(Rank from, int tag, SharedMessage& message);
  void deliver(const SharedMessage& message, Slot& slot);

  SharedSegment& segment_;
  SlotPool<Slot> slots_;
  std::vector<std::uint32_t> free_receipts_;
  std::vector<std::uint32_t> withdrawn_;  ///< receipts that come back once their receiver has seen it
  std::vector<Peer> peers_;
};

}  // namespace hbench
