#pragma once

/// How long a collective of the GPU vendor's library takes: NCCL's algorithms and protocols by a cost model.
///
/// The library runs schedules of its own, which it chooses for each size. The model takes the soonest of a ring, a
/// double binary tree over nodes with chains inside them, and reductions in the switch of a node (NVLS), each with the
/// library's three protocols: LL and LL128 send flags with the data, so they have little latency and carry less;
/// Simple carries all. One takes
///
///   call + base + D + W + 1.5 sqrt(D W)
///
/// D is the latency of all hops that follow each other, W the time of the bytes on the busiest link or NIC. A transfer
/// that is cut into the best number of pieces, with a latency for each piece, takes (sqrt D + sqrt W)^2, one whose
/// pieces cost nothing D + W (Sanders, Speck and Traeff, Two-tree algorithms, Parallel Computing 35, 2009): the library
/// is between the two, which gives the ramp at 1 to 64 MiB. The factor 1.5 was fitted to the curves of four clusters;
/// `call` is the profile's `call_latency`. `hbench validate collectives` shows all. Base latencies, latencies
/// of switches, and the shares that LL, LL128 and NVLS reach of a link: NCCL 2.30, src/graph/tuning.cc (commit
/// 5067397).
///
/// Not modelled: the number of channels, reductions in the switches of a network (SHARP), and what a plug-in for a
/// network chooses. Pure.

#include <string_view>

#include "collectives/network/profile.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// What the library is expected to choose, and how long it takes.
struct LibraryTime {
  Seconds time;
  std::string_view algorithm;  ///< `ring`, `tree`, `nvls`
  std::string_view protocol;   ///< `LL`, `LL128`, `Simple`
};

/// Of buffers of `bytes` on `workers` GPUs, which fill nodes in rank order; nothing takes no time on one. `bytes` as
/// nccl-tests counts them: of the whole buffer, also for a reduce-scatter or an all-gather.
LibraryTime library_time(const Profile& profile, CollectiveKind collective, int workers, Bytes bytes);

/// What a kernel that runs a collective costs beside its hops and bytes: the base latency of LL.
inline constexpr Seconds kKernelBase(6.7e-6);

}  // namespace hbench
