#pragma once

#include <string>

#include "analysis/bandwidth/bandwidth.hpp"
#include "analysis/bandwidth/crossover.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

Document bandwidth_document(const BandwidthAnswer& answer);
std::string bandwidth_json(const BandwidthAnswer& answer, Form form = Form::values);

Document crossover_document(const Crossover& crossover);
std::string crossover_json(const Crossover& crossover, Form form = Form::values);

}  // namespace hbench
