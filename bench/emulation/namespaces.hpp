#pragma once

/// Emulated hosts as network namespaces of this process: the kernel takes them, and their links, when it ends; and
/// whether the links keep their rates, before anything is measured on them.

#include <string>
#include <vector>

#include "bench/emulation/cluster.hpp"

namespace hbench {

/// An open file; closed with its owner.
class OwnedFile {
 public:
  OwnedFile() = default;
  explicit OwnedFile(int number) : number_(number) {}
  ~OwnedFile();
  OwnedFile(OwnedFile&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  OwnedFile& operator=(OwnedFile&& other) noexcept;
  int number() const { return number_; }

 private:
  int number_ = -1;
};

/// The calling thread is in another network namespace as long as this lives.
class InNamespace {
 public:
  /// \throws Error (environment).
  explicit InNamespace(const OwnedFile& other);
  ~InNamespace();
  InNamespace(const InNamespace&) = delete;
  InNamespace& operator=(const InNamespace&) = delete;

 private:
  OwnedFile own_;
};

/// A namespace for each rank, joined as `cluster.hpp` says by bridges in the namespace of this process, which has
/// nothing in it yet. Not thread-safe while it is made.
class EmulatedHosts {
 public:
  /// \throws Error (environment): no ip or tc, a kernel without bridges, veth, tbf or htb, no privilege.
  explicit EmulatedHosts(const EmulatedLinks& links);

  const OwnedFile& of(Rank rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<OwnedFile> hosts_;
};

/// In the process that a launcher starts for a host: enters the namespace of `address`, which process 1 holds, takes a
/// name of its own there, and becomes a shell that runs `words`. \throws Error.
[[noreturn]] void enter_emulated_host(const std::string& address, const std::vector<std::string>& words);

/// What all nodes reach when each sends to the next one, all at once: the share of the rate that its link, or the
/// streams through it, should have.
struct LinkShares {
  double least = 1;
  double most = 1;
};

/// A link that is off by more than this is not what it should be.
inline constexpr double kLinkTolerance = 0.02;

/// Sends for half a second, with the streams of as many ranks as a node has. With one node alone, its first rank sends
/// to the second. \throws Error (environment) where connections fail.
LinkShares check_links(const EmulatedHosts& hosts, const EmulatedLinks& links);

}  // namespace hbench
