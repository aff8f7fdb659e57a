#pragma once

/// A launch of a framework's ranks: what starts them, and whether they trained what hbench trains.

#include <map>
#include <string>
#include <vector>

#include "bench/frameworks/find_framework.hpp"

namespace hbench {

/// The number of processes of a launch: its workers, and servers of the framework's own.
int framework_processes(const Framework& framework, const Case& asked);

/// Program and arguments of each rank; `order` is a `WorkOrder` as JSON.
std::vector<std::string> framework_rank(const FoundFramework& found, const std::string& order);

/// The variables of the ranks of a job: where they meet, by which network (HBENCH_NETWORK: an interface or a subnet),
/// and those of the framework's setting. They meet on the first rank's host, at a port that is free here now, or at
/// that of MASTER_PORT where it is set. \param host_of_rank as `Job` has it. \param network between hosts, as
/// `Job::network`. \throws Error (environment) when that port is taken.
std::map<std::string, std::string> framework_variables(const FrameworkChoice& choice,
                                                       const std::vector<std::string>& host_of_rank = {},
                                                       const std::string& network = {});

/// Why the training of a launch is none of `asked`: another number of parameters than the model of hbench has, a loss
/// that is no number, ranks whose final parameters differ, or a worker that does not say. Empty where it is.
/// `digests`: of the final parameters, one a process; those of parameter servers are the only ones, which all have.
/// Pure.
std::string wrong_training(const Case& asked, const std::vector<Sample>& samples,
                           const std::vector<std::string>& digests);

}  // namespace hbench
