#include "collectives/transport/shared_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace hbench {
namespace {

/// How long a receiver may take over one message; a peer that died while reading must not hold its sender for ever.
constexpr std::chrono::seconds kLongestRead{2};

}  // namespace

Error stopped_error(const SharedSegment& segment) {
  const SharedHeader& header = segment.header();
  return {static_cast<ExitCode>(header.exit_code.load()),
          fmt::format("rank {} stopped the job", header.stopped_by.load() - 1)};
}

SharedTransport::SharedTransport(SharedSegment& segment)
    : segment_(segment), peers_(static_cast<std::size_t>(segment.ranks())) {
  for (std::uint32_t i = SharedSegment::kReceipts; i-- > 0;) free_receipts_.push_back(i);
}

SharedTransport::~SharedTransport() {
  for (const Request request : slots_.taken()) cancel(request);
}

Transport::Request SharedTransport::send(Rank to, int tag, std::span<const std::byte> payload) {
  const Request request = slots_.take();
  Slot& slot = slots_[request];
  slot = {.is_send = true, .peer = to, .tag = tag, .payload = payload};
  if (!payload.empty() && !segment_.contains(payload)) {
    slot.copy = segment_.allocate(payload.size());
    std::ranges::copy(payload, slot.copy.begin());
    slot.payload = slot.copy;
  }
  peer(to).unposted.push_back(request);
  post_waiting(to);
  return request;
}

Transport::Request SharedTransport::receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink,
                                            std::size_t message) {
  const Request request = slots_.take();
  slots_[request] = {.peer = from, .tag = tag, .landing = landing, .sink = sink, .message = message};
  peer(from).expected.push_back(request);
  return request;
}

bool SharedTransport::test(Request request) {
  if (segment_.header().stopped_by.load(std::memory_order_acquire) != 0) throw stopped_error(segment_);
  Slot& slot = slots_[request];
  if (slot.is_send && !slot.posted) post_waiting(slot.peer);
  if (!slot.is_send && !slot.arrived) collect(request);
  const bool done =
      slot.is_send ? slot.posted && segment_.receipt(rank(), slot.receipt).load() == Receipt::taken : slot.arrived;
  if (done) release(request);
  return done;
}

void SharedTransport::cancel(Request request) {
  Slot& slot = slots_[request];
  if (!slot.is_send) {
    std::erase(peer(slot.peer).expected, request);
  } else if (!slot.posted) {
    std::erase(peer(slot.peer).unposted, request);
  } else {
    SharedReceipt& receipt = segment_.receipt(rank(), slot.receipt);
    Receipt state = Receipt::posted;
    if (receipt.compare_exchange_strong(state, Receipt::withdrawn, std::memory_order_acq_rel)) {
      withdrawn_.push_back(slot.receipt);
      slot.posted = false;
    }
    const auto until = std::chrono::steady_clock::now() + kLongestRead;
    while (slot.posted && receipt.load(std::memory_order_acquire) == Receipt::reading &&
           std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
  }
  release(request);
}

void SharedTransport::release(Request request) {
  Slot& slot = slots_[request];
  if (!slot.copy.empty()) segment_.release(slot.copy);
  // One that its receiver never gave back is not used again.
  if (slot.posted && segment_.receipt(rank(), slot.receipt).load(std::memory_order_relaxed) == Receipt::taken)
    free_receipts_.push_back(slot.receipt);
  slots_.give_back(request);
}

void SharedTransport::post_waiting(Rank to) {
  std::deque<Request>& waiting = peer(to).unposted;
  while (!waiting.empty() && post(slots_[waiting.front()])) waiting.pop_front();
}

/// False when the lane, or this rank's list of receipts, is full.
bool SharedTransport::post(Slot& slot) {
  SharedLane& lane = segment_.lane(rank(), slot.peer);
  const std::uint64_t posted = lane.posted.load(std::memory_order_relaxed);
  if (posted - lane.taken.load() == SharedLane::kMessages) return false;
  if (!free_receipt(slot.receipt)) return false;
  segment_.receipt(rank(), slot.receipt).store(Receipt::posted, std::memory_order_relaxed);
  const std::uint64_t offset = slot.payload.empty() ? 0 : segment_.offset_of(slot.payload.data());
  lane.messages[posted % SharedLane::kMessages] = {offset, slot.payload.size(), slot.tag, slot.receipt};
  lane.posted.store(posted + 1);
  ring(segment_.doorbell(slot.peer));
  slot.posted = true;
  return true;
}

bool SharedTransport::free_receipt(std::uint32_t& receipt) {
  if (free_receipts_.empty()) {
    const auto back = std::ranges::partition(withdrawn_, [&](std::uint32_t candidate) {
      return segment_.receipt(rank(), candidate).load(std::memory_order_acquire) != Receipt::taken;
    });
    free_receipts_.assign(back.begin(), back.end());
    withdrawn_.erase(back.begin(), back.end());
  }
  if (free_receipts_.empty()) return false;
  receipt = free_receipts_.back();
  free_receipts_.pop_back();
  return true;
}

/// Takes all messages out of the lane, so that one that nobody waits for yet does not hold up those behind it.
void SharedTransport::empty_lane(Rank from) {
  SharedLane& lane = segment_.lane(from, rank());
  std::uint64_t taken = lane.taken.load(std::memory_order_relaxed);
  const std::uint64_t posted = lane.posted.load();
  if (taken == posted) return;
  const bool was_full = posted - taken == SharedLane::kMessages;
  for (; taken < posted; ++taken) peer(from).delivered.push_back(lane.messages[taken % SharedLane::kMessages]);
  lane.taken.store(taken);
  if (was_full) ring(segment_.doorbell(from));
}

/// Matches what has been sent with the receives of one sender and tag in order, up to `last`. A receive with a sink
/// waits for its own test, and the ones after it wait for it.
void SharedTransport::collect(Request last) {
  const Rank from = slots_[last].peer;
  const int tag = slots_[last].tag;
  empty_lane(from);
  std::vector<Request>& waiting = peer(from).expected;
  for (auto it = waiting.begin(); it != waiting.end();) {
    const Request request = *it;
    Slot& slot = slots_[request];
    if (slot.tag != tag) {
      ++it;
      continue;
    }
    if (slot.sink != nullptr && request != last) return;
    SharedMessage message;
    if (!next(from, tag, message)) return;
    it = waiting.erase(it);
    deliver(message, slot);
    if (request == last) return;
  }
}

/// The next message with `tag` that its sender still wants delivered; it is then `reading`.
bool SharedTransport::next(Rank from, int tag, SharedMessage& message) {
  std::deque<SharedMessage>& delivered = peer(from).delivered;
  for (auto it = delivered.begin(); it != delivered.end();) {
    if (it->tag != tag) {
      ++it;
      continue;
    }
    message = *it;
    it = delivered.erase(it);
    SharedReceipt& receipt = segment_.receipt(from, message.receipt);
    Receipt state = Receipt::posted;
    if (receipt.compare_exchange_strong(state, Receipt::reading, std::memory_order_acq_rel)) return true;
    receipt.store(Receipt::taken, std::memory_order_release);
  }
  return false;
}

/// Reads the payload in the sender's memory. Gives the receipt back in any case, so that the sender does not wait for a
/// receiver that throws.
void SharedTransport::deliver(const SharedMessage& message, Slot& slot) {
  struct Release {
    ~Release() {
      receipt.store(Receipt::taken);
      ring(sender);
    }
    SharedReceipt& receipt;
    DoorbellState& sender;
  } const release{segment_.receipt(slot.peer, message.receipt), segment_.doorbell(slot.peer)};
  if (message.bytes != slot.landing.size()) refuse_length(slot.peer, rank(), message.bytes, slot.landing.size());
  const std::span<const std::byte> payload(segment_.at(message.offset), message.bytes);
  if (slot.sink != nullptr) {
    slot.sink->take(payload, slot.message);
  } else {
    std::ranges::copy(payload, slot.landing.begin());
  }
  slot.arrived = true;
}

}  // namespace hbench
