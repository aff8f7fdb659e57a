#pragma once

#include <string>

#include "analysis/track/explain.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// How a stored verdict came about.
Document explanation_document(const Explanation& explanation);
std::string explanation_json(const Explanation& explanation, Form form = Form::values);

/// The verdicts of each check of a run.
Document verdicts_document(const CheckedRun& checked);

}  // namespace hbench
