#pragma once

#include "bench/worker/rank.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// Says what a rank's training has come to, as its last lines.
void tell_end(Rank rank, const TrainingEnd& end, const Say& say);

}  // namespace hbench
