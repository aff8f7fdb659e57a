#pragma once

/// Hosts compared before anything is timed on them: the odd one out, with the cure. Pure.

#include <string>
#include <vector>

#include "bench/doctor/finding.hpp"
#include "bench/hosts/host_facts.hpp"
#include "reports/document.hpp"

namespace hbench {

/// A host as it answered.
struct HostReport {
  std::string host;     ///< as the allocation names it
  std::string failure;  ///< why there is none of what follows; empty where there is
  HostFacts own;
  double clock_off = 0;  ///< seconds that its clock is ahead of ours, to about a tenth
};

/// Hosts that did not answer, and facts in which hosts differ from the most of them: program, libraries, processors,
/// memory, GPUs, drivers, network; clocks that are more than a second off; too little shared memory. Each is a finding
/// of the host, and optional where nothing fails by it.
std::vector<Finding> compare_hosts(const std::vector<HostReport>& hosts);

/// Whether no job can run because of a finding of theirs: a host that does not answer, another hbench or Open MPI.
bool is_obstacle(const Finding& finding, const std::vector<HostReport>& hosts);

/// The subnet in which all hosts that answered have an address: the one of the fastest interface, and of equally fast
/// ones the first by name. Empty where there is none, or only that of a bridge (`docker0`, `virbr0`), which reaches no
/// other host.
std::string common_network(const std::vector<HostReport>& hosts);

/// `MTU 1500, 25 Gbit/s`: of the first host that answered, in this subnet; empty where it has no address there.
std::string network_in_words(const std::vector<HostReport>& hosts, const std::string& subnet);

/// A table of facts: a row for each, one value where hosts agree, else each value with its hosts.
Table host_table(const std::vector<HostReport>& hosts);

}  // namespace hbench
