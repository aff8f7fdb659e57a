#pragma once

/// What profiles and workloads are called in reports: the titles in their files, also of files of one's own, which a
/// later `hbench report` cannot read again and finds in the environment of the run.

#include <filesystem>
#include <vector>

#include "analysis/points/points.hpp"
#include "analysis/prediction/data.hpp"
#include "bench/output/points.hpp"
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

/// Titles and GPUs of what comes with the program.
void describe(ReportInput& input, const Data& data);
/// Those of a plan, which may know files of the user's own; they replace others of the same name.
void describe(ReportInput& input, const Catalog& catalog);
/// What `remember_titles` left in these runs; of two the later one.
void describe(ReportInput& input, const std::vector<Run>& runs);

/// Adds to the environment of `run` the titles of the catalog that do not come with the program.
void remember_titles(Run& run, const Catalog& catalog, const Data& data);

}  // namespace hbench
