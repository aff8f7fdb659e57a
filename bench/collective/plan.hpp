#pragma once

/// The plan of `hbench collective`: which cases run in which processes, in which order. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/collective/request.hpp"

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

/// Cases that share their processes. Cases of one size follow each other and take turns.
struct ProcessSet {
  enum class Program : std::uint8_t { own, peers, mpich };
  Program program = Program::own;
  bool threads = false;  ///< ranks are threads of one process
  int workers = 1;
  int ranks = 1;  ///< workers and dedicated servers
  std::vector<LoopCase> cases;
};

struct CollectivePlan {
  std::vector<ProcessSet> sets;
  std::vector<Case> simulated;  ///< on clusters
  std::vector<Refusal> refused;
  int cases = 0;            ///< measured; indices are 0 .. cases-1
  bool comparison = false;  ///< several candidates for one size
};

/// \throws Error (usage) for unknown names, for what nothing can do, and when nothing is left.
CollectivePlan make_collective_plan(const CollectiveRequest& request, const CollectiveMachine& machine,
                                    const std::vector<std::int64_t>& tensors);

/// The tensors of a trace as they travel: each alone, or as the fusion policy merges them. In elements.
std::vector<std::int64_t> tensors_of(const StepTimeline& timeline, const std::string& fusion, DataType type);

/// `ring by mpi`, `ring + fp16 by shm`, `Gloo ring-chunked`: a candidate for people.
std::string candidate_label(const Case& asked);

/// Whether it is another library's: what ours are compared with.
bool is_peer(const Case& asked);

}  // namespace hbench
