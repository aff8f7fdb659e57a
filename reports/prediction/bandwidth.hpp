#pragma once

#include <string>

#include "analysis/prediction/bandwidth.hpp"
#include "reports/document/document.hpp"

namespace hbench {

Document bandwidth_document(const BandwidthAnswer& answer);
std::string bandwidth_json(const BandwidthAnswer& answer);

}  // namespace hbench
