#include "bench/emulation/namespaces.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
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

}  // namespace hbench
