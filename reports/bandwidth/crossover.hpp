#pragma once

#include <string>

#include "analysis/bandwidth/crossover.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

Document crossover_document(const Crossover& crossover);
std::string crossover_json(const Crossover& crossover, Form form = Form::values);

}  // namespace hbench
