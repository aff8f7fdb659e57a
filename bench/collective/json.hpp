#pragma once

/// The results of `hbench collective` for machines. Times in seconds, bandwidths in bytes per second. Pure.

#include <string>
#include <vector>

#include "analysis/records.hpp"
#include "bench/collective/plan.hpp"
#include "bench/collective/summary.hpp"

namespace hbench {

/// One object: what was run and where, `results` with every raw sample, `refused`, `comparison` and `bound`.
std::string collective_json(const std::vector<CollectiveRow>& rows, const std::vector<Refusal>& refused,
                            const Run& run);

/// A header and a line per result, without raw samples.
std::string collective_csv(const std::vector<CollectiveRow>& rows);

}  // namespace hbench
