#pragma once

/// Reports: one file each that turns results into a `Document`. Pure functions of what was stored.

#include <string_view>
#include <vector>

#include "analysis/points.hpp"
#include "analysis/records.hpp"
#include "reports/document.hpp"

namespace hbench {

/// Everything a report may look at.
struct ReportInput {
  std::vector<Point> points;            ///< from `make_points`
  std::vector<Comparison> comparisons;  ///< from `compare_with_published`
  std::vector<Run> runs;                ///< what was run where
};

/// A question, and the function that writes its answer.
struct Report {
  std::string_view name;     ///< `scaling`
  std::string_view summary;  ///< one line for `hbench list reports`
  Document (*build)(const ReportInput& input);
};

}  // namespace hbench
