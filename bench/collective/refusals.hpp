#pragma once

/// Which candidates of `hbench collective` cannot run here, and why.

#include <cstdint>
#include <string>
#include <vector>

#include "bench/collective/means.hpp"
#include "bench/collective/request.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {

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
