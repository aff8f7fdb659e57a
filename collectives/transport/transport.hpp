#pragma once

/// Point-to-point messages between ranks, by threads, MPI, shared memory or memory of GPUs; and how a rank waits for
/// them and for other operations.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/units.hpp"
#include "collectives/device/device.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// What one rank has exchanged with each other rank: bytes of buffers, encoded or not. Counted by whoever moves a
/// buffer, so that what ranks say to each other beside (which buckets leave, who is late) is left out, and so are the
/// collectives of libraries, which do not say what they send.
class ByteCounts {
 public:
  void send(Rank to, std::size_t bytes) { add(sent_, to, bytes); }
  /// A server, or a partner, sends them because this rank has asked, and counts them nowhere: so those of a step are
  /// counted in the step that they are for.
  void fetch(Rank from, std::size_t bytes) { add(fetched_, from, bytes); }
  /// What a collective of these workers brings: of dedicated servers, the ranks after them, it is fetched.
  void receive(Rank from, std::size_t bytes, int workers) {
    if (from >= workers) fetch(from, bytes);
  }

  std::int64_t sent_to(Rank rank) const { return of(sent_, rank); }
  std::int64_t fetched_from(Rank rank) const { return of(fetched_, rank); }
  std::int64_t sent() const {
    std::int64_t sum = 0;
    for (const std::int64_t bytes : sent_) sum += bytes;
    return sum;
  }

 private:
  using ByRank = std::vector<std::int64_t>;  ///< as far as anything was exchanged

  static void add(ByRank& counts, Rank rank, std::size_t bytes) {
    const auto index = static_cast<std::size_t>(rank);
    if (index >= counts.size()) counts.resize(index + 1);
    counts[index] += static_cast<std::int64_t>(bytes);
  }
  static std::int64_t of(const ByRank& counts, Rank rank) {
    const auto index = static_cast<std::size_t>(rank);
    return index < counts.size() ? counts[index] : 0;
  }

  ByRank sent_, fetched_;
};

/// The bytes of a variable that is sent, or received, as it is. \pre trivially copyable
template <class T>
std::span<std::byte> as_message(T& variable) {
  return std::as_writable_bytes(std::span(&variable, 1));
}

/// Takes messages as they arrive: adds them up, decodes them, copies them. Called by `Transport::test`.
class Sink {
 public:
  virtual ~Sink() = default;
  /// `payload` is the whole of `message` (the number given to `receive`) and is gone after the call: it may lie in its
  /// sender's memory.
  virtual void take(std::span<const std::byte> payload, std::size_t message) = 0;
};

/// One rank's end. Owned and called by one thread at a time. Messages between two ranks with one tag
/// arrive in the order sent. Nothing blocks; buffers stay valid and untouched until `test` says done.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  using Request = std::size_t;

  virtual ~Transport() = default;
  virtual Rank rank() const = 0;
  virtual int size() const = 0;
  /// Where payloads and landings lie. A complete request may still have work in flight there; work that is enqueued
  /// afterwards comes after it.
  virtual Device& device() { return host_device(); }
  /// What the next message is for, said by schedules before they send or receive one; only `emulated_transport.hpp`,
  /// whose servers handle what is added up, makes a difference.
  virtual void next_is(TransferKind) {}
  virtual Request send(Rank to, int tag, std::span<const std::byte> payload) = 0;
  /// The message must have the length of `landing`. Without a sink it ends in `landing`. With one it is handed to the
  /// sink from within `test` of this very request: where the transport can, straight from the sender's memory, so that
  /// nothing is copied, and otherwise from `landing`. Its sender may be held up until then, and so may later messages
  /// of this sender and tag.
  virtual Request receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink = nullptr,
                          std::size_t message = 0) = 0;
  /// Whether the request is complete; a completed request is forgotten and must not be tested again.
  /// \throws Error (wrong_data) for a message of another length than promised.
  virtual bool test(Request request) = 0;
  /// Cancels a request; afterwards its buffer is not used any more. For jobs that end early: the peer is left waiting,
  /// and a library that cannot recall a send (MPI) must be aborted next. Cancel requests of one peer and tag newest
  /// first, so that the peer never matches a later message to an earlier receive.
  virtual void cancel(Request request) = 0;

  /// What this rank has exchanged of buffers; counted by those who send and receive them.
  ByteCounts& byte_counts() { return byte_counts_; }

 private:
  ByteCounts byte_counts_;
};

/// What `test` throws where a message has `got` bytes (none: more than expected) instead of `expected`.
[[noreturn]] void refuse_length(Rank from, Rank to, std::optional<std::size_t> got, std::size_t expected);

/// One rank's part of a collective in flight. Never blocks; progressed by one thread at a time.
class Operation {
 public:
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual ~Operation() = default;
  /// Does what can be done now. True once this rank's part is complete; its buffer is then free again.
  virtual bool progress() = 0;
  /// Queues the operation behind those queued before, where a library needs one order on all ranks; elsewhere nothing.
  /// The first `progress` does so too.
  virtual void take_turn() {}
  /// Whether the ranks that it waits for have cores of their own, so that waiting without a pause keeps nobody from
  /// working.
  virtual bool may_spin() const { return false; }
  /// Begins again on the same buffer, as MPI's persistent collectives do. \pre complete, on every rank.
  virtual void restart() { throw std::logic_error("this operation runs once"); }
  /// What it waits for, for a person: `rank 3 in round 2 of 6`. Empty when complete.
  virtual std::string waiting_for() const = 0;
  /// The ranks whose messages are outstanding (receives first), for naming a late rank; may be empty where
  /// a library does not report them.
  virtual std::vector<Rank> waiting_ranks() const = 0;
};

/// `rank 3`, `ranks 0, 3`.
std::string text_of_ranks(const std::vector<Rank>& ranks);

/// At least this for what ranks do once, at their beginning: they build models and communicators at different speeds,
/// and servers build none.
inline constexpr Seconds kSetupTimeout{120};

/// Progresses `operation` until it is complete. Spins briefly, then yields, then sleeps, so that
/// ranks that share a core do not starve each other.
/// \throws Error (lost_rank) after `timeout`: `<what>: waited 60 s for rank 3 in round 2 of 6`.
void wait_for(Operation& operation, Seconds timeout, std::string_view what);

/// One posted message as an operation; cancelled when it is destroyed before it is complete.
class PostedMessage final : public Operation {
 public:
  PostedMessage(Transport& transport, Transport::Request request, Rank peer)
      : transport_(transport), request_(request), peer_(peer) {}
  ~PostedMessage() override {
    if (!done_) transport_.cancel(request_);
  }

  bool progress() override { return done_ = done_ || transport_.test(request_); }
  std::string waiting_for() const override { return done_ ? "" : fmt::format("rank {}", peer_); }
  std::vector<Rank> waiting_ranks() const override { return done_ ? std::vector<Rank>() : std::vector{peer_}; }

 private:
  Transport& transport_;
  Transport::Request request_;
  Rank peer_;
  bool done_ = false;
};

/// Buffers that were posted together, and counted. They are cancelled, the newest first, where they are destroyed
/// before they are complete.
class PostedMessages {
 public:
  explicit PostedMessages(Transport& transport) : transport_(transport) {}
  ~PostedMessages() {
    for (const Posted& each : open_ | std::views::reverse) transport_.cancel(each.request);
  }
  PostedMessages(const PostedMessages&) = delete;
  PostedMessages& operator=(const PostedMessages&) = delete;

  void receive(Rank from, int tag, std::span<std::byte> into) {
    open_.push_back({transport_.receive(from, tag, into), from});
  }
  /// An answer to what is sent, which whoever answers does not count.
  void fetch(Rank from, int tag, std::span<std::byte> into) {
    transport_.byte_counts().fetch(from, into.size());
    receive(from, tag, into);
  }
  void send(Rank to, int tag, std::span<const std::byte> what) {
    transport_.byte_counts().send(to, what.size());
    open_.push_back({transport_.send(to, tag, what), to});
  }
  /// Whether all are complete.
  bool progress() {
    std::erase_if(open_, [&](const Posted& each) { return transport_.test(each.request); });
    return open_.empty();
  }
  /// The ranks at the other ends of those that are not, each once, in the order in which they were posted.
  std::vector<Rank> peers() const {
    std::vector<Rank> ranks;
    for (const Posted& each : open_)
      if (std::ranges::find(ranks, each.peer) == ranks.end()) ranks.push_back(each.peer);
    return ranks;
  }

 private:
  struct Posted {
    Transport::Request request;
    Rank peer;
  };

  Transport& transport_;
  std::vector<Posted> open_;
};

/// Waits until a message that was just posted is complete; \param what as for `wait_for`. \throws Error (lost_rank).
inline void complete(Transport& transport, Transport::Request request, Rank peer, Seconds timeout,
                     std::string_view what) {
  PostedMessage message(transport, request, peer);
  wait_for(message, timeout, what);
}

}  // namespace hbench
