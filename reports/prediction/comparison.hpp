#pragma once

#include <string>

#include "analysis/prediction/compare.hpp"
#include "reports/document/document.hpp"

namespace hbench {

Document comparison_document(const ComparisonAnswer& answer);
std::string comparison_json(const ComparisonAnswer& answer);

}  // namespace hbench
