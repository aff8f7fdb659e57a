#pragma once

#include <string>

#include "analysis/bandwidth/bandwidth.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

Document bandwidth_document(const BandwidthAnswer& answer);
std::string bandwidth_json(const BandwidthAnswer& answer, Form form = Form::values);

}  // namespace hbench
