#pragma once

/// All that `hbench doctor` found: for people and for machines. Pure.

#include <string>
#include <vector>

#include "bench/doctor/finding.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// Findings, the tables of the machine's topology, and last how many problems there are.
Document doctor_document(const std::vector<Finding>& findings, const std::vector<Table>& topology);

/// `{"findings": [{"checked", "found", "fix", "optional", "problem"}], "topology": {"GPUs": [...], ...}, "problems":
/// 1}`; `fix` is null where there is nothing to do.
std::string doctor_json(const std::vector<Finding>& findings, const std::vector<Table>& topology,
                        Form form = Form::values);

}  // namespace hbench
