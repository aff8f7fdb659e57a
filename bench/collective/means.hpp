#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/network/profile.hpp"

namespace hbench {

/// The program beside this one that has other libraries' all-reduces beside ours, in the same processes.
inline constexpr std::string_view kSharedProgram = "hbench_peers";

/// An all-reduce of another library.
struct KnownPeer {
  std::string program;    ///< whose ranks have it: a key of `RunOptions::programs`
  std::string library;    ///< in the place of an executor's name: `gloo`, `MPICH 5.0.2`
  std::string algorithm;  ///< `ring-chunked`; `vendor`: what the library itself chooses
};

/// What there is to measure with.
struct CollectiveMachine {
  int cores = 1;
  std::int64_t memory = 0;                    ///< bytes; 0: unknown
  int fixed_ranks = 0;                        ///< ranks that a launcher has already started; 0: we start them
  std::string no_mpi;                         ///< why ranks cannot be processes here; empty when they can
  std::map<std::string, std::string> absent;  ///< executors that cannot be used here, and why
  std::vector<KnownPeer> peers;
  std::vector<std::string> absent_peers;  ///< what `--peers` lacks, and how to get it
  std::string emulated;                   ///< as `LocalMachine`
  std::vector<Profile> clusters;          ///< to simulate on, as `CollectiveRequest::profiles` names them
};

}  // namespace hbench
