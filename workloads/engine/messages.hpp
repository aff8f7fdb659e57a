#pragma once

/// The messages that the ranks of a training job exchange beside gradients: small, and of fixed size.
///
/// As in Horovod, rank 0 coordinates: workers announce the tensors that are ready, rank 0 orders every rank
/// to exchange the buckets that its fusion policies make, in one order for all. Tensors are bits and not names, as in
/// Horovod's response cache once it is warm: what the bits stand for is agreed when the layout is shared.
///
/// Sending and receiving small messages over a `Transport`.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "collectives/base/units.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

/// Tags of the messages; those of buckets are the endpoint's (`Endpoint::reserve_tag`).
inline constexpr int kLayoutTag = 1;
inline constexpr int kAnnouncementTag = 2;
inline constexpr int kOrderTag = 3;
inline constexpr int kDigestTag = 4;
inline constexpr int kConsensusTag = 5;
inline constexpr int kProgressTag = 6;
inline constexpr int kLeavingTag = 7;
inline constexpr int kUnseenTag = 8;
inline constexpr int kCheckpointTag = 9;

/// Numbers in a window of `64 * Words` from `first`, which is a multiple of that.
template <std::size_t Words>
struct BitSet {
  static constexpr std::int32_t kBits = 64 * static_cast<std::int32_t>(Words);

  std::int32_t first = 0;
  std::array<std::uint64_t, Words> words{};

  std::vector<std::int32_t> numbers() const {
    std::vector<std::int32_t> all;
    for (std::int32_t bit = 0; bit < kBits; ++bit)
      if ((words[static_cast<std::size_t>(bit / 64)] >> (bit % 64) & 1U) != 0) all.push_back(first + bit);
    return all;
  }
};

/// `numbers`, in ascending order, as few sets as hold them.
template <class Set>
std::vector<Set> to_sets(std::vector<std::int32_t> numbers) {
  std::ranges::sort(numbers);
  std::vector<Set> sets;
  for (const std::int32_t number : numbers) {
    const std::int32_t first = number / Set::kBits * Set::kBits;
    if (sets.empty() || sets.back().first != first) sets.emplace_back().first = first;
    const std::int32_t bit = number - first;
    sets.back().words[static_cast<std::size_t>(bit / 64)] |= std::uint64_t{1} << (bit % 64);
  }
  return sets;
}

/// From a worker to rank 0: of these tensors, task `task` of the plan is done.
struct Announcement : BitSet<8> {
  std::int32_t task = 0;
};

/// What the next step is: rank 0 decides for all that end it together.
enum class Phase : std::int32_t {
  warmup,
  timed,
  traced,
  untimed,  ///< others have steps to do, for whom this rank goes on
  stop
};

enum class OrderKind : std::int32_t {
  bucket,    ///< reduce these tensors together, or a piece of one
  step_end,  ///< no more buckets in this step; `phase` says what comes next
  alive,     ///< no order; rank 0 is alive
  abort      ///< the job ends: rank 0 waits no longer for the ranks in `members`
};

/// From rank 0 to every other rank.
struct Order {
  using Members = BitSet<12>;

  OrderKind kind = OrderKind::alive;
  Phase phase = Phase::stop;
  std::int32_t task = 0;   ///< of the plan: the collective that the bucket is a part of
  std::int32_t more = 0;   ///< the set goes on in the next message
  std::int64_t begin = 0;  ///< as `Bucket`
  std::int64_t end = 0;
  Members members;
};

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
