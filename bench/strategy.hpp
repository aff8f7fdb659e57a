#pragma once

#include "analysis/records.hpp"
#include "collectives/network/step_simulator.hpp"

namespace hbench {

/// The table entries that a stored strategy names. \pre its algorithm is not `none`.
/// \throws Error (usage) for a name that this version does not know.
StepStrategy resolve(const Strategy& strategy);

}  // namespace hbench
