#pragma once

#include <array>
#include <optional>
#include <string>

#include "analysis/compare/compare.hpp"
#include "reports/report.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

Document comparison_document(const ComparisonAnswer& answer);
std::string comparison_json(const ComparisonAnswer& answer, Form form = Form::values);

/// Which of two sides is quicker on this machine, each by the quickest of its frameworks, and all that took turns with
/// them. What failed or was not measured is said, and then there may be no ratio. \param missing the side that is not
/// here, by its title, and why; the other is compared with hbench's ring then
Document framework_comparison(const ReportInput& input, std::array<MeasuredSide, 2> sides,
                              const std::optional<Refusal>& missing = {});

}  // namespace hbench
