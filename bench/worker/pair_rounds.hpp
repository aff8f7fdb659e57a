#pragma once

#include <optional>

namespace hbench {

/// Which hosts are measured as pairs, and when: a round-robin tournament by the circle method, in which each host is in
/// at most one pair of a round and meets nobody twice. Up to eight hosts meet all others; of more each meets about
/// 2 log2(n) others, so that all pairs are at most n log2(n), rounded up.

/// Returns the number of rounds that make a pass. \pre hosts > 0
int pair_rounds(int hosts);

/// Whom `host` meets in `round`; nobody where it has a break, which an odd number of hosts takes turns at. \pre
/// 0 <= host < hosts, 0 <= round < pair_rounds(hosts)
std::optional<int> paired_host(int host, int round, int hosts);

}  // namespace hbench
