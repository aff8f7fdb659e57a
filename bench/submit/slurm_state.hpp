#pragma once

#include <string_view>

#include "bench/submit/engine.hpp"

namespace hbench {

/// How a job is, from what `scontrol --oneliner show job` or `sacct --parsable2 --noheader --format
/// State,ExitCode,Reason` printed. Pure.
JobState slurm_state(std::string_view printed);

}  // namespace hbench
