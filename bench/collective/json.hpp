#pragma once

/// The results of `hbench collective` for machines. Times in seconds, bandwidths in bytes per second. Pure.

#include <optional>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"
#include "bench/collective/plan.hpp"
#include "bench/collective/summary.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// One object: what was run and where, `results` with every raw sample, `refused`, `comparison` and `bound`.
/// With `link` (what each rank's link carries) also the shares of it.
std::string collective_json(const std::vector<CollectiveRow>& rows, const std::vector<Refusal>& refused, const Run& run,
                            const std::optional<BytesPerSecond>& link = std::nullopt, Form form = Form::values);

/// A header and a line per result, without raw samples.
std::string collective_csv(const std::vector<CollectiveRow>& rows);

}  // namespace hbench
