#pragma once

#include <string>

#include "analysis/recover/recovery.hpp"
#include "reports/document/document.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// \pre there is a run
Document recovery_document(const Recovery& recovery);
std::string recovery_json(const Recovery& recovery, Form form = Form::values);

}  // namespace hbench
