#pragma once

#include <string>

#include "analysis/track/history.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

Document bisect_document(const BisectReport& report);
std::string bisect_json(const BisectReport& report, Form form = Form::values);

}  // namespace hbench
