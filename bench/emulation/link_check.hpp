#pragma once

/// Whether the links of emulated hosts keep their rates, before anything is measured on them.

#include "bench/emulation/namespaces.hpp"

namespace hbench {

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
