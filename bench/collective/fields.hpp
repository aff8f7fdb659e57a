#pragma once

/// What JSON, CSV and tables say of a collective's results and of what they come to. Times in seconds, bandwidths in
/// bytes per second. Pure.

#include "bench/collective/summary.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// A result without its samples.
void collective_fields(Row& row, const CollectiveRow& each);
void peer_fields(Row& row, const PeerComparison& each);
void bound_fields(Row& row, const BoundShare& each);
void link_fields(Row& row, const LinkShare& each);

/// The number of elements.
std::int64_t count_of(const Case& asked);

}  // namespace hbench
