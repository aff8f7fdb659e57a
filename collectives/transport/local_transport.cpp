#include "collectives/transport/local_transport.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/transport/slot_pool.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

/// Of a part of a message; parts of one sender arrive in their order.
struct Header {
  std::int32_t from = 0;
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;  ///< of the whole message
  std::uint64_t first = 0;  ///< where the part begins
  std::int64_t sent = 0;    ///< by the machine's clock, which all ranks share
};
constexpr std::size_t kPart = 32'768;

sockaddr_un address_of(const std::string& name, Rank rank, socklen_t& length) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // After a zero byte: no file.
  const std::string text = fmt::format("{}-{}", name, rank);
  if (text.size() + 1 > sizeof address.sun_path) throw Error(ExitCode::internal, "a socket's name is too long");
  std::memcpy(address.sun_path + 1, text.data(), text.size());
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return address;
}

class LocalTransport final : public Transport {
 public:
  LocalTransport(std::string name, Rank rank, int size, std::function<Seconds(Rank)> delay)
      : name_(std::move(name)),
        rank_(rank),
        size_(size),
        delay_(std::move(delay)),
        socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
        outgoing_(static_cast<std::size_t>(size)) {
    socklen_t length = 0;
    const sockaddr_un own = address_of(name_, rank_, length);
    if (socket_ >= 0 && bind(socket_, reinterpret_cast<const sockaddr*>(&own), length) == 0) return;
    const std::string why = std::strerror(errno);
    if (socket_ >= 0) close(socket_);
    throw Error(ExitCode::environment, fmt::format("rank {} has no socket for control messages: {}", rank_, why));
  }
  ~LocalTransport() override { close(socket_); }

  Rank rank() const override { return rank_; }
  int size() const override { return size_; }

  Request send(Rank to, int tag, std::span<const std::byte> payload) override {
    const Request request = slots_.take();
    slots_[request] = {.peer = to, .tag = tag, .payload = payload, .sent = Clock::now().time_since_epoch().count()};
    slots_[request].is_send = true;
    outgoing_[static_cast<std::size_t>(to)].push_back(request);
    pass_on(to);
    return request;
  }

  Request receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink, std::size_t message) override {
    const Request request = slots_.take();
    slots_[request] = {.peer = from, .tag = tag, .landing = landing, .sink = sink, .message = message};
    expected_[{from, tag}].push_back(request);
    return request;
  }

  bool test(Request request) override {
    // Whatever is tested: who waits for an answer must not keep the question.
    for (Rank to = 0; to < size_; ++to) pass_on(to);
    take_in();
    Slot& slot = slots_[request];
    if (slot.is_send) {
      if (!slot.left) return false;
    } else if (!land(request, slot)) {
      return false;
    }
    slots_.give_back(request);
    return true;
  }

  void cancel(Request request) override {
    const Slot& slot = slots_[request];
    if (slot.is_send)
      std::erase(outgoing_[static_cast<std::size_t>(slot.peer)], request);
    else
      std::erase(expected_[{slot.peer, slot.tag}], request);
    slots_.give_back(request);
  }

 private:
  struct Slot {
    Rank peer = 0;
    int tag = 0;
    std::span<const std::byte> payload = {};
    std::span<std::byte> landing = {};
    Sink* sink = nullptr;
    std::size_t message = 0;
    std::int64_t sent = 0;
    std::size_t passed = 0;  ///< bytes that have left
    bool is_send = false;
    bool left = false;
  };
  struct Message {
    std::vector<std::byte> bytes;
    std::size_t there = 0;  ///< the number of bytes that are there
    Clock::time_point due;
  };

  /// Sends what the receiver has room for, in order. It may not be there yet.
  void pass_on(Rank to) {
    std::deque<Request>& waiting = outgoing_[static_cast<std::size_t>(to)];
    while (!waiting.empty()) {
      Slot& slot = slots_[waiting.front()];
      if (!pass_on(slot)) return;
      slot.left = true;
      waiting.pop_front();
    }
  }

  bool pass_on(Slot& slot) {
    socklen_t length = 0;
    sockaddr_un peer = address_of(name_, slot.peer, length);
    do {
      const std::size_t bytes = std::min(kPart, slot.payload.size() - slot.passed);
      Header header{rank_, slot.tag, slot.payload.size(), slot.passed, slot.sent};
      std::array<iovec, 2> parts{iovec{&header, sizeof header},
                                 iovec{const_cast<std::byte*>(slot.payload.data()) + slot.passed, bytes}};
      msghdr message{};
      message.msg_name = &peer;
      message.msg_namelen = length;
      message.msg_iov = parts.data();
      message.msg_iovlen = parts.size();
      if (sendmsg(socket_, &message, MSG_NOSIGNAL) < 0) return false;
      slot.passed += bytes;
    } while (slot.passed < slot.payload.size());
    return true;
  }

  void take_in() {
    std::array<std::byte, sizeof(Header) + kPart> part;
    for (;;) {
      const ssize_t got = recv(socket_, part.data(), part.size(), 0);
      if (got < static_cast<ssize_t>(sizeof(Header))) return;
      Header header;
      std::memcpy(&header, part.data(), sizeof header);
      const auto bytes = static_cast<std::size_t>(got) - sizeof header;
      std::deque<Message>& messages = arrived_[{header.from, header.tag}];
      if (header.first == 0) {
        messages.push_back({.bytes = std::vector<std::byte>(header.bytes), .due = due_of(header)});
      }
      Message& message = messages.back();
      if (bytes > 0) std::memcpy(message.bytes.data() + header.first, part.data() + sizeof header, bytes);
      message.there += bytes;
    }
  }

  Clock::time_point due_of(const Header& header) const {
    return Clock::time_point(Clock::duration(header.sent)) +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(delay_(header.from).value));
  }

  /// The oldest message goes to the oldest request of its sender and tag.
  bool land(Request request, const Slot& slot) {
    std::deque<Request>& expected = expected_[{slot.peer, slot.tag}];
    std::deque<Message>& messages = arrived_[{slot.peer, slot.tag}];
    if (expected.front() != request || messages.empty()) return false;
    const Message& message = messages.front();
    if (message.there < message.bytes.size() || Clock::now() < message.due) return false;
    if (message.bytes.size() != slot.landing.size())
      refuse_length(slot.peer, rank_, message.bytes.size(), slot.landing.size());
    std::ranges::copy(message.bytes, slot.landing.begin());
    if (slot.sink != nullptr) slot.sink->take(slot.landing, slot.message);
    messages.pop_front();
    expected.pop_front();
    return true;
  }

  using Key = std::pair<Rank, int>;  ///< sender and tag

  std::string name_;
  Rank rank_;
  int size_;
  std::function<Seconds(Rank)> delay_;
  int socket_;
  SlotPool<Slot> slots_;
  std::vector<std::deque<Request>> outgoing_;  ///< by receiver
  std::map<Key, std::deque<Request>> expected_;
  std::map<Key, std::deque<Message>> arrived_;
};

}  // namespace

std::unique_ptr<Transport> make_local_transport(const std::string& name, Rank rank, int size,
                                                std::function<Seconds(Rank)> delay) {
  return std::make_unique<LocalTransport>(name, rank, size, std::move(delay));
}

}  // namespace hbench
