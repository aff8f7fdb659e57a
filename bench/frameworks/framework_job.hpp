#pragma once

/// A launch of a framework's ranks: what starts them, and whether they trained what hbench trains.
///
/// Which interpreter has a framework, and in which version.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/frameworks/frameworks.hpp"
#include "bench/launch/allocation.hpp"
#include "collectives/base/library.hpp"

namespace hbench {

struct FoundFramework {
  std::string python;    ///< the interpreter that has it, as hosts find it
  std::string script;    ///< path of its ranks' script
  std::string version;   ///< as the framework says
  Availability state{};  ///< why no interpreter has it
};
/// Makes Python leave no files beside its scripts: these are an installation's, or the sources.
inline const std::pair<const std::string, std::string> kNoByteCode{"PYTHONDONTWRITEBYTECODE", "1"};
/// By the texts of choices: a setting may need a part that an installation lacks.
using FoundFrameworks = std::map<std::string, FoundFramework, std::less<>>;

/// The interpreters that HBENCH_PYTHON lists, with colons between, else `python3` and Debian's; `variable` is such as
/// getenv.
std::vector<std::string> interpreters(const char* (*variable)(const char* name));

/// Asks each interpreter in turn, by the framework's script in `folder`, until one has the framework on all hosts (this
/// machine where they are local) in one version, and what its setting needs. One that does not answer for a minute has
/// none. \param network between hosts, as `Job::network`. \throws Error (environment) without a launcher.
FoundFramework find_framework(const FrameworkChoice& choice, const std::vector<std::string>& pythons,
                              const std::filesystem::path& folder, const Allocation& hosts = {},
                              const std::string& network = {});
/// With the interpreters and scripts of this process's program.
FoundFramework find_framework(const FrameworkChoice& choice, const Allocation& hosts = {},
                              const std::string& network = {});

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
