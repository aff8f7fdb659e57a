#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collectives/network/profile.hpp"

namespace hbench {

/// An all-reduce of another library, as the program beside this one names it.
struct KnownPeer {
  std::string library;
  std::string algorithm;
};

/// What there is to measure with.
struct CollectiveMachine {
  int cores = 1;
  std::int64_t memory = 0;                    ///< bytes; 0: unknown
  int fixed_ranks = 0;                        ///< ranks that a launcher has already started; 0: we start them
  std::string no_mpi;                         ///< why ranks cannot be processes here; empty when they can
  std::map<std::string, std::string> absent;  ///< executors that cannot be used here, and why
  std::vector<KnownPeer> peers;
  bool mpich = false;                     ///< the program of MPICH is there
  std::vector<std::string> absent_peers;  ///< what `--peers` lacks, and how to get it
  std::string emulated;                   ///< as `LocalMachine`
  std::vector<Profile> clusters;          ///< to simulate on, as `CollectiveRequest::profiles` names them
};

}  // namespace hbench
