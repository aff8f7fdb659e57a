#pragma once

/// On which host each rank of a timed case was. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"

namespace hbench {

namespace metric {
/// A rank's host in a launch: its number, from 0, among the names of the environment's `hosts`.
inline constexpr std::string_view kRankHost = "rank_host";
}  // namespace metric

/// The environment's fact of a run over several hosts: their names, with `, ` between them.
inline constexpr std::string_view kHostsFact = "hosts";

/// Samples of one launch. \param hosts of the run \param host_of_rank by rank; a name that is not among `hosts` is left
/// out
std::vector<Sample> rank_host_samples(const std::vector<std::string>& hosts,
                                      const std::vector<std::string>& host_of_rank, int launch);

/// Names by rank, of the last launch that says so; empty where none does, as on one machine. \param hosts_fact the
/// value of `kHostsFact`
std::vector<std::string> hosts_of_ranks(const std::vector<Sample>& samples, std::string_view hosts_fact);

/// `reason` with the host of each rank that it names: `rank 3` becomes `rank 3 on n2`. \param host_of_rank by
/// rank; empty where all ranks are on one host, which needs no name. Pure.
std::string with_hosts(const std::string& reason, const std::vector<std::string>& host_of_rank);

}  // namespace hbench
