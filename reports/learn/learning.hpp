#pragma once

#include <string>
#include <vector>

#include "analysis/learn/learning.hpp"
#include "reports/rows/row.hpp"
#include "reports/rows/tool_formats.hpp"

namespace hbench {

Document learning_document(const Learning& learning);
std::string learning_json(const Learning& learning, Form form = Form::values);
/// Of each case its accuracy in the end and, where all launches reached the one that is wanted, the time until then.
std::vector<ToolFigure> learned_figures(const Learning& learning);

}  // namespace hbench
