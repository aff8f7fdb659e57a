#pragma once

/// The step that would tell most of a profile, if somebody measured it.

#include <optional>

#include "analysis/fit/fit_profile.hpp"

namespace hbench {

/// Among the workloads of the rows on one full node, and on the most GPUs of the rows, two nodes at least; none where
/// no step would tell a tenth more of anything. Simulates each a few times.
std::optional<NextRow> next_row(const FittedProfile& fitted, const Data& data);

/// \throws Error (usage) where steps that the fit does not know would be predicted worse by it than without it, naming
/// `next_row`: nothing must be written.
void require_better(const FittedProfile& fitted, const Data& data);

}  // namespace hbench
