#pragma once

/// What is slow, for people.

#include <vector>

#include "bench/doctor/finding.hpp"
#include "bench/hosts/slow_hosts.hpp"
#include "reports/document/document.hpp"

namespace hbench {

/// Returns a finding with its cure for each slow part; what was compared and is as the others, or cannot be judged, is
/// a finding that needs none.
std::vector<Finding> slow_findings(const HostSpeeds& speeds);

/// Hosts with what one core computes and what their middle link carries (medians over passes), and links, the slowest
/// first; each beside the median of all.
std::vector<Table> speed_tables(const HostSpeeds& speeds);

}  // namespace hbench
