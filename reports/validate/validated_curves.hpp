#pragma once

#include <string>
#include <vector>

#include "analysis/prediction/validate_curves.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// A row for each curve and, with `each`, a table of its sizes; then what all of them say. \pre there are some.
Document curves_document(const std::vector<CurveValidation>& all, bool each = false);
/// The same for machines.
std::string curves_json(const std::vector<CurveValidation>& all, Form form = Form::values);

/// What the model of rates is worth, by GPU and by workload and, with `each`, row by row. \pre there are some.
Document rates_document(const std::vector<RateValidation>& all, bool each = false);
/// Each row for machines.
std::string rates_json(const std::vector<RateValidation>& all, Form form = Form::values);

}  // namespace hbench
