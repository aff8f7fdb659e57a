#pragma once

#include <string>
#include <vector>

#include "analysis/track/history.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// What changed when, newest first, the levels of today, and a chart for each of the first cases.
Document history_document(const std::vector<CaseHistory>& cases, const HistoryRequest& request);
std::string history_json(const std::vector<CaseHistory>& cases, Form form = Form::values);

Document bisect_document(const BisectReport& report);
std::string bisect_json(const BisectReport& report, Form form = Form::values);

}  // namespace hbench
