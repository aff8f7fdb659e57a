#pragma once

#include <array>

#include "analysis/prediction/compare.hpp"
#include "reports/report.hpp"

namespace hbench {

/// Which of two sides is quicker on this machine, each by the quickest of its frameworks, and all that took turns with
/// them. What failed or was not measured is said, and then there may be no ratio.
Document framework_comparison(const ReportInput& input, const std::array<MeasuredSide, 2>& sides);

}  // namespace hbench
