#pragma once

/// Hosts compared before anything is timed on them: the odd one out, with the cure. Pure.

#include <string>
#include <vector>

#include "bench/doctor/diagnosis.hpp"
#include "bench/hosts/host_facts.hpp"
#include "reports/document/document.hpp"

namespace hbench {

/// What is wrong of hosts: each is a finding of the host, and optional where nothing fails by it.
struct HostProblems {
  std::vector<Finding> obstacles;    ///< for which no job runs: unusable, named twice, another hbench or Open MPI
  std::vector<Finding> differences;  ///< by which figures suffer
};

/// Hosts that no job can use, whatever the others have: no answer, or no room for the launcher's files.
std::vector<Finding> unusable_hosts(const std::vector<HostFacts>& hosts);

/// Hosts that no job can use, or that are one machine by two names, and facts in which hosts differ from the most of
/// them: program, libraries, processors, memory, GPUs, drivers, network. And of each host a clock that is more than a
/// second off, little shared or free memory, a network that counts errors, and GPUs that others compute on.
HostProblems compare_hosts(const std::vector<HostFacts>& hosts);

/// The subnet in which all hosts that answered have an address: the one of the fastest interface, and of equally fast
/// ones the first by name. Empty where there is none, or only that of a bridge (`docker0`, `virbr0`), which reaches no
/// other host.
std::string common_network(const std::vector<HostFacts>& hosts);

/// `MTU 1500, 25 Gbit/s`: of the first host that answered, in this subnet; empty where it has no address there.
std::string network_in_words(const std::vector<HostFacts>& hosts, const std::string& subnet);

/// A table of facts: a row for each, one value where hosts agree, else each value with its hosts.
Table host_table(const std::vector<HostFacts>& hosts);

}  // namespace hbench
