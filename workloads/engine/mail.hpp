#pragma once

/// Sending and receiving small messages over a `Transport`.

#include <array>
#include <cstddef>
#include <cstring>
#include <list>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "collectives/transport/operation.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

/// Outstanding sends: copies of the messages, kept until they have left. Used by one thread at a time.
class Outbox {
 public:
  explicit Outbox(Transport& transport) : transport_(transport) {}
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  void send(Rank to, int tag, std::span<const std::byte> payload);
  template <class T>
  void send(Rank to, int tag, const T& message) {
    static_assert(std::is_trivially_copyable_v<T>);
    send(to, tag, std::as_bytes(std::span(&message, 1)));
  }
  /// Forgets what has left; true when nothing is outstanding.
  bool progress();
  /// The receivers of what is outstanding.
  std::vector<Rank> receivers() const;

 private:
  struct Message {
    Rank to;
    Transport::Request request;
    std::vector<std::byte> payload;
  };
  Transport& transport_;
  std::list<Message> messages_;
};

/// Messages of type `T` from one rank, one receive posted at a time, and only by `expect`: a receive that is
/// never matched must not be left behind.
template <class T>
class Inbox {
 public:
  Inbox(Transport& transport, Rank from, int tag) : transport_(transport), from_(from), tag_(tag) {}
  ~Inbox() {
    if (request_) transport_.cancel(*request_);
  }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  Rank from() const { return from_; }
  /// Expects one more message.
  void expect() {
    if (!request_) request_ = transport_.receive(from_, tag_, as_message(message_));
  }
  /// The expected message, once it is there; the next one must be expected anew.
  std::optional<T> poll() {
    if (!request_ || !transport_.test(*request_)) return std::nullopt;
    request_.reset();
    return message_;
  }

 private:
  static_assert(std::is_trivially_copyable_v<T>);
  Transport& transport_;
  Rank from_;
  int tag_;
  std::optional<Transport::Request> request_;
  T message_{};
};

/// Receives `payload` from `from` and waits for it. `what` is for the error: `wait_for`'s.
void receive_now(Transport& transport, Rank from, int tag, std::span<std::byte> payload, Seconds timeout,
                 std::string_view what);
/// Waits until everything has left.
void flush(Outbox& outbox, Seconds timeout, std::string_view what);

}  // namespace hbench
