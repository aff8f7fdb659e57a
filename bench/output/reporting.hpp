#pragma once

#include <filesystem>
#include <vector>

#include "analysis/points/points.hpp"
#include "analysis/prediction/data.hpp"
#include "bench/output/point_filter.hpp"
#include "reports/report.hpp"

namespace hbench {

/// What reports look at, from stored results: the points that `filter` accepts. `baselines` is what efficiencies may be
/// relative to. \throws Error (usage) as `select_points`.
ReportInput report_input(const std::vector<CaseResult>& results, const std::vector<CaseResult>& baselines,
                         const std::vector<Run>& runs, const Data& data, const PointFilter& filter = {});

/// What a terminal shows of a sweep: the verdict and warnings of `report`, a matrix of networks and strategies with
/// each workload at its most GPUs, what was timed here, failures.
Document summary(const std::vector<Point>& points, const Document& report);

/// Writes the report's folder, drawing charts with gnuplot; prints a warning when that is missing.
/// \throws Error (environment) when the folder cannot be written.
void write_report_folder(const Document& document, const std::filesystem::path& folder);

/// Fails early, before hours of work: tries to write into the folder, and leaves things as they were.
/// \throws Error (environment).
void check_report_folder(const std::filesystem::path& folder);

}  // namespace hbench
