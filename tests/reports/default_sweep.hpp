#pragma once

/// What `hbench sweep --gpus 1..128` gives a report, with made-up measured steps.

#include "bench/sweep/plan.hpp"
#include "reports/report.hpp"

namespace hbench {

/// Simulated points of the default grid, the published figures of its workloads with their simulated twins, and
/// measured points of made-up step times. \pre the working tree is at HBENCH_SOURCE_DIR.
ReportInput default_sweep();

/// Its simulated cases, with what they name.
Plan default_plan();

}  // namespace hbench
