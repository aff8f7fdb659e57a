#pragma once

#include <array>
#include <optional>

#include "analysis/compare/compare.hpp"
#include "reports/report.hpp"

namespace hbench {

/// Which of two sides is quicker on this machine, each by the quickest of its frameworks, and all that took turns with
/// them. What failed or was not measured is said, and then there may be no ratio. \param missing the side that is not
/// here, by its title, and why; the other is compared with hbench's ring then
Document framework_comparison(const ReportInput& input, std::array<MeasuredSide, 2> sides,
                              const std::optional<Refusal>& missing = {});

}  // namespace hbench
