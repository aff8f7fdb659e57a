#include "bench/emulation/namespaces.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

#include "bench/launch/process.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

/// The number of the first rank's namespace among the open files of process 1.
constexpr int kFirstFile = 200;

std::string path_of(pid_t process, Rank rank) { return fmt::format("/proc/{}/fd/{}", process, kFirstFile + rank); }

[[noreturn]] void fail(const std::string& what) {
  throw Error(ExitCode::environment, fmt::format("{}: {}", what, std::strerror(errno)),
              "emulation takes root, or user namespaces; hbench doctor says what this machine has");
}

OwnedFile own_namespace() {
  OwnedFile file(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) fail("cannot see the own network namespace");
  return file;
}

/// Runs `ip` or `tc` in the namespace of this thread.
void run_batch(const std::string& program, const std::string& lines) {
  if (lines.empty()) return;
  Spawn spawn;
  spawn.argv = {program, "-batch", "-"};
  spawn.input = lines;
  spawn.output_timeout = Seconds(60);
  const Exit exit = run_process(spawn);
  if (exit.code == 0) return;
  if (exit.code == 127)
    throw Error(ExitCode::environment, fmt::format("emulated links need {}, which is not installed", program),
                "install it (Debian: iproute2)");
  throw Error(ExitCode::environment,
              fmt::format("{} cannot make the emulated links: {}", program,
                          exit.error_tail.substr(0, exit.error_tail.find('\n'))),
              "the kernel needs veth, bridge, sch_tbf, sch_htb and cls_u32; hbench doctor says what this machine has");
}

/// Whether the kernel takes it.
bool set(const char* path, std::string_view value) {
  const OwnedFile file(open(path, O_WRONLY | O_CLOEXEC));
  return file.number() >= 0 && write(file.number(), value.data(), value.size()) == std::ssize(value);
}

/// In the namespace of this thread. A pause in dilated time is none of the cluster's: connections need not find their
/// window again after it. And what slows down to look for a shorter way (BBR, the default of some systems) leaves a
/// ring 92 % of links whose rate is known.
void set_up_tcp(const EmulatedLinks& links) {
  set("/proc/sys/net/ipv4/tcp_wmem", fmt::format("4096 16384 {}", send_buffer(links)));
  set("/proc/sys/net/ipv4/tcp_slow_start_after_idle", "0");
  constexpr const char* kControl = "/proc/sys/net/ipv4/tcp_congestion_control";
  if (!set(kControl, "cubic")) set(kControl, "reno");
}

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr int kPort = 7000;
/// TCP finds its window, then it counts.
constexpr Milliseconds kRamp{250}, kWindow{500}, kDrain{2000};

struct Stream {
  Rank from = 0, to = 0;
  OwnedFile out, in;
  std::int64_t received = 0;
  bool ended = false;
};

void require(bool holds, const char* what) {
  if (!holds)
    throw Error(ExitCode::environment,
                fmt::format("the emulated links cannot be checked: {}: {}", what, std::strerror(errno)));
}

sockaddr_in address_of(const std::string& host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

/// A socket belongs to the namespace that it was made in, whoever uses it later.
Stream connect(const EmulatedHosts& hosts, const EmulatedLinks& links, Rank from, Rank to) {
  Stream stream{.from = from, .to = to};
  sockaddr_in address = address_of(links.address(to));
  OwnedFile listener;
  {
    const InNamespace there(hosts.of(to));
    listener = OwnedFile(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    setsockopt(listener.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    require(bind(listener.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
    require(listen(listener.number(), 8) == 0, "listen");
  }
  const InNamespace here(hosts.of(from));
  stream.out = OwnedFile(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  require(connect(stream.out.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "connect");
  stream.in = OwnedFile(accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  require(stream.in.number() >= 0, "accept");
  fcntl(stream.out.number(), F_SETFL, O_NONBLOCK);
  return stream;
}

/// Connects each rank of a node to one of the next node; where streams are slower than links, the streams of all ranks
/// of a node fill its link together.
std::vector<Stream> connect_all(const EmulatedHosts& hosts, const EmulatedLinks& links) {
  std::vector<std::vector<Rank>> ranks(static_cast<std::size_t>(links.nodes()));
  for (Rank rank = 0; rank < links.ranks(); ++rank)
    ranks[static_cast<std::size_t>(links.node_of(rank))].push_back(rank);
  std::vector<Stream> streams;
  if (ranks.size() == 1) {
    if (links.ranks() > 1) streams.push_back(connect(hosts, links, 0, 1));
    return streams;
  }
  for (std::size_t node = 0; node < ranks.size(); ++node) {
    const std::vector<Rank>& next = ranks[(node + 1) % ranks.size()];
    for (std::size_t slot = 0; slot < ranks[node].size(); ++slot)
      streams.push_back(connect(hosts, links, ranks[node][slot], next[slot % next.size()]));
  }
  return streams;
}

void send_all(std::vector<Stream>& streams, const std::atomic<bool>& stop) {
  const std::vector<char> block(1 << 16, 'x');
  std::vector<pollfd> polled;
  for (const Stream& stream : streams) polled.push_back({stream.out.number(), POLLOUT, 0});
  while (!stop) {
    poll(polled.data(), polled.size(), 50);
    for (const pollfd& each : polled)
      if ((each.revents & POLLOUT) != 0) [[maybe_unused]]
        const ssize_t sent = send(each.fd, block.data(), block.size(), MSG_NOSIGNAL);
  }
  for (const Stream& stream : streams) shutdown(stream.out.number(), SHUT_WR);
}

/// Reads what has come until `until`.
void receive_until(std::vector<Stream>& streams, Clock::time_point until) {
  std::vector<char> block(1 << 18);
  std::vector<pollfd> polled;
  for (const Stream& stream : streams) polled.push_back({stream.in.number(), POLLIN, 0});
  while (Clock::now() < until && !std::ranges::all_of(streams, &Stream::ended)) {
    poll(polled.data(), polled.size(), 5);
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].fd < 0 || (polled[i].revents & (POLLIN | POLLHUP)) == 0) continue;
      const ssize_t got = recv(polled[i].fd, block.data(), block.size(), 0);
      if (got > 0) streams[i].received += got;
      if (got != 0) continue;
      streams[i].ended = true;
      polled[i].fd = -1;
    }
  }
}

std::map<int, std::int64_t> by_node(const std::vector<Stream>& streams, const EmulatedLinks& links) {
  std::map<int, std::int64_t> received;
  for (const Stream& stream : streams) received[links.node_of(stream.from)] += stream.received;
  return received;
}

/// What the links let through from `node` to the next.
BytesPerSecond expected(const EmulatedLinks& links, int node, std::int64_t streams) {
  if (links.nodes() == 1) return links.local_rate;
  const auto next = static_cast<std::size_t>((node + 1) % links.nodes());
  const BytesPerSecond least = std::min(links.node_rate[static_cast<std::size_t>(node)], links.node_rate[next]);
  if (links.stream_rate.value == 0) return least;
  return std::min(least, links.stream_rate * static_cast<double>(streams));
}

}  // namespace

OwnedFile::~OwnedFile() {
  if (number_ >= 0) close(number_);
}

OwnedFile& OwnedFile::operator=(OwnedFile&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

InNamespace::InNamespace(const OwnedFile& other) : own_(own_namespace()) {
  if (setns(other.number(), CLONE_NEWNET) != 0) fail("cannot enter an emulated host");
}

InNamespace::~InNamespace() {
  if (setns(own_.number(), CLONE_NEWNET) != 0) std::abort();
}

EmulatedHosts::EmulatedHosts(const EmulatedLinks& links) {
  const OwnedFile bridges = own_namespace();
  for (Rank rank = 0; rank < links.ranks(); ++rank) {
    if (unshare(CLONE_NEWNET) != 0) fail("cannot make a network namespace");
    {
      const OwnedFile made = own_namespace();
      if (setns(bridges.number(), CLONE_NEWNET) != 0) fail("cannot return from an emulated host");
      hosts_.emplace_back(dup3(made.number(), kFirstFile + rank, O_CLOEXEC));
    }
    if (hosts_.back().number() < 0) fail("cannot keep a network namespace open");
  }
  // Bridges would ask the firewall about each packet, as a host's own do for containers: a twentieth of all the work.
  set("/proc/sys/net/bridge/bridge-nf-call-iptables", "0");
  const NetworkBatch batch = bridges_batch(links, [](Rank rank) { return path_of(getpid(), rank); });
  run_batch("ip", batch.ip);
  run_batch("tc", batch.tc);
  for (Rank rank = 0; rank < links.ranks(); ++rank) {
    const InNamespace inside(of(rank));
    set_up_tcp(links);
    const NetworkBatch own = rank_batch(links, rank);
    run_batch("ip", own.ip);
    run_batch("tc", own.tc);
  }
}

void enter_emulated_host(const std::string& address, const std::vector<std::string>& words) {
  const EmulatedAddress at = parse_emulated_address(address);
  const OwnedFile host(open(path_of(1, at.rank).c_str(), O_RDONLY | O_CLOEXEC));
  if (host.number() < 0 || setns(host.number(), CLONE_NEWNET) != 0) fail("cannot enter an emulated host");
  const std::string name = fmt::format("node{}-rank{}", at.node, at.rank);
  if (unshare(CLONE_NEWUTS) != 0 || sethostname(name.data(), name.size()) != 0) fail("cannot name an emulated host");
  execl("/bin/sh", "sh", "-c", fmt::format("{}", fmt::join(words, " ")).c_str(), nullptr);
  fail("cannot start a shell");
}

LinkShares check_links(const EmulatedHosts& hosts, const EmulatedLinks& links) {
  std::vector<Stream> streams = connect_all(hosts, links);
  if (streams.empty()) return {};
  std::atomic<bool> stop = false;
  std::jthread sender([&] { send_all(streams, stop); });
  const Clock::time_point begin = Clock::now();
  receive_until(streams, begin + kRamp);
  const auto before = by_node(streams, links);
  const Clock::time_point from = Clock::now();
  receive_until(streams, from + kWindow);
  const double seconds = seconds_since(from);
  const auto after = by_node(streams, links);
  stop = true;
  // What is on its way must not meet what is measured.
  receive_until(streams, Clock::now() + kDrain);
  LinkShares shares{.least = 1e9, .most = 0};
  for (const auto& [node, bytes] : after) {
    const auto count =
        std::ranges::count_if(streams, [&](const Stream& each) { return links.node_of(each.from) == node; });
    const double rate = static_cast<double>(bytes - before.at(node)) / seconds;
    const double share = rate / expected(links, node, count).value;
    shares.least = std::min(shares.least, share);
    shares.most = std::max(shares.most, share);
  }
  return shares;
}

}  // namespace hbench
