#include "bench/hosts/host_facts.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "collectives/base/error.hpp"
#include "collectives/base/json_fields.hpp"
#include "collectives/base/read_json.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPorts = 8;           ///< candidates: some may be in use
constexpr int kFirstPort = 20'000;  ///< below those that systems give to clients
constexpr int kPortRange = 10'000;
constexpr int kAttemptMilliseconds = 300;

int port_of(std::uint64_t token, int candidate) {
  return kFirstPort + static_cast<int>(token % kPortRange) + candidate;
}

/// A descriptor that is closed at the end.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

bool is_ready(int descriptor, short events, int milliseconds) {
  pollfd waiting{descriptor, events, 0};
  return poll(&waiting, 1, milliseconds) == 1;
}

/// Takes connections, and says the token to each.
class Listener {
 public:
  explicit Listener(std::uint64_t token) : token_(token), socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    for (int candidate = 0; candidate < kPorts; ++candidate) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<std::uint16_t>(port_of(token, candidate)));
      if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) break;
    }
    listen(socket_.get(), SOMAXCONN);
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }

  int visitors() const { return visitors_; }

 private:
  void serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (!is_ready(socket_.get(), POLLIN, 50)) continue;
      const Socket visitor(accept(socket_.get(), nullptr, nullptr));
      if (send(visitor.get(), &token_, sizeof token_, MSG_NOSIGNAL) != sizeof token_) continue;
      // It has our token; whether it is one of us, it says.
      std::uint64_t answer = 0;
      if (is_ready(visitor.get(), POLLIN, kAttemptMilliseconds) &&
          recv(visitor.get(), &answer, sizeof answer, MSG_WAITALL) == sizeof answer && answer == token_)
        ++visitors_;
    }
  }

  const std::uint64_t token_;
  Socket socket_;
  std::atomic<int> visitors_ = 0;
  std::jthread thread_;  ///< ends before what it uses does
};

bool reaches_port(sockaddr_in address, int port, std::uint64_t token) {
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const Socket to(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (connect(to.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno != EINPROGRESS)
    return false;
  int status = 0;
  socklen_t length = sizeof status;
  if (!is_ready(to.get(), POLLOUT, kAttemptMilliseconds) ||
      getsockopt(to.get(), SOL_SOCKET, SO_ERROR, &status, &length) != 0 || status != 0)
    return false;
  std::uint64_t answer = 0;
  return is_ready(to.get(), POLLIN, kAttemptMilliseconds) &&
         recv(to.get(), &answer, sizeof answer, MSG_WAITALL) == sizeof answer && answer == token &&
         send(to.get(), &token, sizeof token, MSG_NOSIGNAL) == sizeof token;
}

bool reaches(const std::string& host, std::uint64_t token) {
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  for (int candidate = 0; candidate < kPorts; ++candidate)
    if (reaches_port(*reinterpret_cast<const sockaddr_in*>(found->ai_addr), port_of(token, candidate), token))
      return true;
  return false;
}

}  // namespace

template <class Walk, Either<HostAddress> Address>
void describe_fields(Walk& walk, Address& address) {
  walk("interface", address.interface)("subnet", address.subnet)("mtu", address.mtu);
  walk("speed", address.speed)("errors", address.errors);
}

template <class Walk, Either<HostFacts> Facts>
void describe_fields(Walk& walk, Facts& facts) {
  auto& training = facts.training;
  walk("name", facts.name)("facts", facts.facts)("addresses", facts.addresses)("clock", facts.clock);
  walk("no_training", training.no_training)("gpus", training.gpus)("no_gpu", training.no_gpu);
  walk("absent", training.absent);
}

std::string to_json(const HostFacts& facts) { return json_line(facts); }

HostFacts parse_host_facts(std::string_view json) {
  try {
    return read_json(json).get<HostFacts>();
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::internal, fmt::format("cannot parse the output of 'hbench-worker host': {}", error.what()));
  }
}

std::vector<std::string> unreached_hosts(const std::vector<std::string>& others, std::uint64_t token,
                                         Seconds patience) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(patience.value);
  const Listener listener(token);
  std::vector<std::string> left = others;
  while (!left.empty() && Clock::now() < deadline) {
    std::erase_if(left, [&](const std::string& host) { return reaches(host, token); });
    if (!left.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  while (listener.visitors() < std::ssize(others) && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return left;
}

std::string unreached_json(const std::vector<std::string>& hosts) {
  return nlohmann::json{{"unreached", hosts}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace hbench
