#pragma once

#include <string>

#include "analysis/compare/compare.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

Document comparison_document(const ComparisonAnswer& answer);
std::string comparison_json(const ComparisonAnswer& answer, Form form = Form::values);

}  // namespace hbench
