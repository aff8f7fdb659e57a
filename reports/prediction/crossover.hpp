#pragma once

#include <string>

#include "analysis/prediction/crossover.hpp"
#include "reports/document/document.hpp"

namespace hbench {

Document crossover_document(const Crossover& crossover);
std::string crossover_json(const Crossover& crossover);

}  // namespace hbench
