#pragma once

/// A sweep while its cases run.
///
/// What a sweep has stored, as reports take it.

#include <functional>
#include <vector>

#include "analysis/store/store.hpp"
#include "bench/verbs/sweep_preparation.hpp"
#include "reports/report.hpp"

namespace hbench {

/// Runs what no earlier run has finished, and what the calibration adds to the sweep, and stores each result when it is
/// known: Ctrl-C and a crash lose one case at most. `early` is called once where minutes of measuring follow what was
/// simulated. Returns the worst end of the launches of this run. \throws Error.
ExitCode run_cases(SweepPreparation& sweep, Store& store, const std::function<void()>& early);

/// Returns the results of both plans of a sweep, whichever run they come from.
std::vector<CaseResult> planned_results(const SweepPreparation& sweep, const Store& store);

/// Returns the points of such results, with the titles of their profiles and workloads.
ReportInput planned_input(const SweepPreparation& sweep, const Store& store, const std::vector<CaseResult>& results);

}  // namespace hbench
