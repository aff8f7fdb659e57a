#pragma once

#include <string>

#include "analysis/learn/learning.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

Document learning_document(const Learning& learning);
std::string learning_json(const Learning& learning, Form form = Form::values);

}  // namespace hbench
