#pragma once

#include <string>
#include <vector>

#include "analysis/points/points.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// An array with one object per point; `bench/guide/results.md` documents the fields. Deterministic: nothing of when or
/// how often it ran.
std::string points_json(const std::vector<Point>& points, Form form = Form::values);
/// The same as CSV with a header line; text that a spreadsheet would run as a formula is preceded by an apostrophe.
std::string points_csv(const std::vector<Point>& points);

}  // namespace hbench
