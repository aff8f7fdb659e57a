#pragma once

/// Reports: one file each that turns results into a `Document`. Pure functions of what was stored.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/points/points.hpp"
#include "analysis/records/records.hpp"
#include "reports/document/document.hpp"

namespace hbench {

/// Everything a report may look at.
struct ReportInput {
  std::vector<Point> points;             ///< from `make_points`
  std::vector<Comparison> comparisons;   ///< from `compare_with_published`
  std::vector<Prediction> predictions;   ///< from `compare_with_measured`
  std::vector<EmulatedPair> emulations;  ///< from `compare_with_emulated`
  std::vector<CaseResult> alone = {};    ///< collectives and benchmarks that were timed, which are no training
  std::vector<Run> runs;                 ///< what was run where
  /// Titles for people, by name: `aws-p3-25gbe` is `AWS p3.16xlarge, 8 x V100, 25 Gbit/s`. A name without one
  /// stands for itself.
  std::map<std::string, std::string> profile_titles, workload_titles;
  /// The GPU of each profile's nodes, for people: `V100 SXM2`. Nothing is said of a profile without one.
  std::map<std::string, std::string> profile_gpus;
};

/// A question, and the function that writes its answer.
struct Report {
  std::string_view name;     ///< `scaling`
  std::string_view summary;  ///< one line for `hbench list reports`
  Document (*build)(const ReportInput& input);
  /// What a pull request needs: verdict, warnings and the main tables.
  Document (*build_short)(const ReportInput& input);
};

extern const Report kScalingReport;

/// All reports, in the order of `hbench list reports`.
std::span<const Report* const> reports();

/// \throws Error (usage) with a suggestion.
const Report& find_report(std::string_view name);

}  // namespace hbench
