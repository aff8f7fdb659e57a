#pragma once

/// What a sweep has stored, as reports take it.

#include <vector>

#include "analysis/store/store.hpp"
#include "bench/verbs/sweep_preparation.hpp"
#include "reports/report.hpp"

namespace hbench {

/// Returns the results of the plan and of `extension` (what a calibration added), whichever run they come from.
std::vector<CaseResult> planned_results(const SweepPreparation& sweep, const Plan& extension, const Store& store);

/// Returns the points of such results, with the titles of their profiles and workloads.
ReportInput planned_input(const SweepPreparation& sweep, const Plan& extension, const Store& store,
                          const std::vector<CaseResult>& results);

}  // namespace hbench
