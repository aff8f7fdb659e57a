#pragma once

#include <vector>

#include "analysis/prediction/traced_cases.hpp"
#include "reports/document/document.hpp"

namespace hbench {

/// For people: of each case where the time of its ranks goes, the slowest bucket and the rank that is late.
Document trace_document(const std::vector<TracedCase>& cases);

}  // namespace hbench
