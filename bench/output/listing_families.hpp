#pragma once

/// The families of `collectives/` and `workloads/` as tables: a row for each entry with what it is, what it costs, what
/// it cannot do and where it is from. Part of `listing.hpp`.

#include <string>

#include "collectives/executors/executor.hpp"
#include "reports/document/document.hpp"

namespace hbench {

Table algorithm_table();
Table compressor_table();
Table fusion_table();
Table preset_table();
Table executor_table();

/// `available`, or why it is not and what to do about it.
std::string state_text(const Availability& availability);

}  // namespace hbench
