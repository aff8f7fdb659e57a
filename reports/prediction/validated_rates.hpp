#pragma once

#include <string>
#include <vector>

#include "analysis/prediction/validate_rates.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// What the model of rates is worth, by GPU and by workload and, with `each`, row by row. \pre there are some.
Document rates_document(const std::vector<RateValidation>& all, bool each = false);
/// Each row for machines.
std::string rates_json(const std::vector<RateValidation>& all, Form form = Form::values);

}  // namespace hbench
