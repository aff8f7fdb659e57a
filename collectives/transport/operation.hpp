#pragma once

/// How a rank waits for an operation.

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/units.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

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
