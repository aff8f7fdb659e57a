#pragma once

/// A chart as a table: for people who cannot or will not look at the picture.

#include "reports/document/document.hpp"

namespace hbench {

/// One row per series, one column per x; a cell holds y and, in parentheses, its interval. Of more than 40 different x
/// a row for each point. Reference lines come last.
/// \param chart prepared with `drawable()`.
Table chart_table(const Chart& chart);

}  // namespace hbench
