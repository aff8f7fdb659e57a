#pragma once

/// What profiles and workloads are called in reports: the titles in their files, also of files of one's own, which a
/// later `hbench report` cannot read again and finds in the environment of the run.

#include <vector>

#include "analysis/prediction/data.hpp"
#include "reports/report.hpp"

namespace hbench {

/// Titles and GPUs of what comes with the program.
void describe(ReportInput& input, const Data& data);
/// Those of a plan, which may know files of the user's own; they replace others of the same name.
void describe(ReportInput& input, const Catalog& catalog);
/// What `remember_titles` left in these runs; of two the later one.
void describe(ReportInput& input, const std::vector<Run>& runs);

/// Adds to the environment of `run` the titles of the catalog that do not come with the program.
void remember_titles(Run& run, const Catalog& catalog, const Data& data);

}  // namespace hbench
