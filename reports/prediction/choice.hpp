#pragma once

#include <string>

#include "analysis/prediction/choose.hpp"
#include "reports/document/document.hpp"

namespace hbench {

Document choice_document(const Choice& choice);
std::string choice_json(const Choice& choice);

}  // namespace hbench
