#pragma once

/// How fast hosts compute and how fast pairs of them exchange bytes, measured by one rank on each: what
/// `hbench doctor --hosts --find-slow` compares.

#include <functional>
#include <optional>
#include <vector>

#include "collectives/base/test_delay.hpp"
#include "collectives/base/units.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

/// Equal on all ranks, which are hosts.
struct ProbeOrder {
  int ranks = 1;
  int passes = 15;         ///< measurements of each host and each pair
  int threads = 1;         ///< that compute on each host, pinned as ranks are
  Seconds window{0.04};    ///< of computing in a pass
  Seconds exchange{0.02};  ///< that the middle pair exchanges bytes in a pass
  Seconds timeout{60};     ///< for one message
  TestDelay delay;         ///< of one rank, in each window
};

/// The functions that receive the results of a probe, on rank 0.
struct ProbeReport {
  /// A pass begins: after the computing, which takes `passes * window`.
  std::function<void(int pass)> pass_begins;
  /// What one core of this rank's host computed in each pass, the slowest of those that were used: floating-point
  /// operations per second.
  std::function<void(Rank rank, const std::vector<double>& speeds)> computed;
  /// What the pair sent each other in each pass, both ways at once: bytes per second of the slower way.
  std::function<void(Rank a, Rank b, const std::vector<double>& rates)> exchanged;
};

/// This rank's part: first all compute at once, then the pairs of a round (`pair_rounds`) exchange bytes at once. All
/// ranks call it. Buffers of pairs are of the size that the middle pair exchanges within `exchange`, from 256 KiB to
/// 32 MiB. \param report is called on rank 0 alone. \throws Error (lost_rank) when a rank does not answer in time.
void probe_speeds(Transport& transport, const ProbeOrder& order, const ProbeReport& report);

/// Which hosts are measured as pairs, and when: a round-robin tournament by the circle method, in which each host is in
/// at most one pair of a round and meets nobody twice. Up to eight hosts meet all others; of more each meets about
/// 2 log2(n) others, so that all pairs are at most n log2(n), rounded up.

/// Returns the number of rounds that make a pass. \pre hosts > 0
int pair_rounds(int hosts);

/// Whom `host` meets in `round`; nobody where it has a break, which an odd number of hosts takes turns at. \pre
/// 0 <= host < hosts, 0 <= round < pair_rounds(hosts)
std::optional<int> paired_host(int host, int round, int hosts);

}  // namespace hbench
