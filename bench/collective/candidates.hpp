#pragma once

/// What a plan of `hbench collective` combines: names that are known, with defaults where nothing was asked for; and
/// which of the candidates cannot run here, and why.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/collective/request.hpp"
#include "collectives/executors/executor.hpp"
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

struct Candidates {
  std::vector<int> ranks{};
  std::vector<std::string> algorithms{};  ///< empty: as each executor likes best
  std::vector<std::string> compressors{}, executors{};
};

/// \throws Error (usage) for a name that nothing knows, and for options that none of them takes.
Candidates candidates_of(const CollectiveRequest& request, const CollectiveMachine& machine,
                         const std::vector<std::int64_t>& tensors);

/// Returns the algorithms that were asked for; otherwise one that is good for the executor.
std::vector<std::string> algorithms_on(const std::string& executor, const CollectiveRequest& request,
                                       const Candidates& chosen);

/// Returns the bytes of an element.
std::int64_t element_size(const CollectiveRequest& request);

/// Returns the buffers of each size, in elements. Parts are equal where each worker has one.
std::vector<std::vector<std::int64_t>> buffers_of(const CollectiveRequest& request,
                                                  const std::vector<std::int64_t>& tensors, int workers);

/// Returns what is asked about these buffers, wherever the answer comes from.
Case question_of(const CollectiveRequest& request, int workers, const std::vector<std::int64_t>& buffers);

/// Returns the executor of a case. \throws Error (usage) when nothing has that name.
const ExecutorKind& kind_of(const Case& asked);

/// Returns whether ranks are threads: not where a launcher has started them as processes.
bool ranks_are_threads(const CollectiveMachine& machine, const Case& asked);

/// Returns why a candidate is left out; empty when it can run.
std::string refuse_candidate(const CollectiveRequest& request, const CollectiveMachine& machine, const Case& asked,
                             const AlgorithmChoice& choice, const std::vector<std::int64_t>& buffers);

/// Returns whether `why` names something that this machine is without, which `hbench doctor` explains.
bool is_lack(const CollectiveMachine& machine, const std::string& why);

}  // namespace hbench
