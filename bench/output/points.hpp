#pragma once

/// Which stored points `hbench report` and `hbench export` show, and points as JSON and CSV.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/points/points.hpp"
#include "bench/command/arguments.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// An empty list accepts everything.
struct PointFilter {
  std::vector<std::string> workloads, profiles;
  std::set<Evidence> evidence;
  /// Each an algorithm, or a part of a strategy's label: `ps`, `sliced`, `ps (sliced, dedicated)`, `fp16`.
  std::vector<std::string> strategies;

  bool accepts(const Case& asked) const;
};

/// Adds `--evidence`, a comma list, whose default is `standard`. `evidence` outlives the parsing.
void add_evidence(Arguments& app, std::set<Evidence>& evidence, std::string help, std::string standard = {});

/// The points that `filter` accepts, in their order. Efficiencies are those of all points: a baseline that is filtered
/// out still counts. \throws Error (usage), with a suggestion, for a workload, profile or strategy that no point has,
/// and when no point is left.
std::vector<Point> select_points(std::vector<Point> points, const PointFilter& filter);

/// Which points of which runs.
struct StoredFilter {
  PointFilter points;
  int run = 0;  ///< 0: any
  std::map<std::string, std::string> labels = {};

  /// \throws Error (usage) where none of the stored `runs` is meant.
  RunFilter of(const std::vector<Run>& runs) const;
};

/// Adds `--workload`, `--profile`, `--evidence`, `--strategy`, `--run` and `--label` to `app`, bound to `filter`, which
/// outlives it.
void add_filter_options(Arguments& app, StoredFilter& filter);

/// An array with one object per point; `bench/guide/results.md` documents the fields. Deterministic: nothing of when or
/// how often it ran.
std::string points_json(const std::vector<Point>& points, Form form = Form::values);
/// The same as CSV with a header line; text that a spreadsheet would run as a formula is preceded by an apostrophe.
std::string points_csv(const std::vector<Point>& points);

}  // namespace hbench
