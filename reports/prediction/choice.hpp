#pragma once

#include <string>

#include "analysis/prediction/choose.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

Document choice_document(const Choice& choice);
std::string choice_json(const Choice& choice, Form form = Form::values);

}  // namespace hbench
