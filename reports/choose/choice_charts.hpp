#pragma once

/// Pictures of a choice. Pure.

#include <vector>

#include "analysis/choose/choose.hpp"
#include "reports/document/document.hpp"

namespace hbench {

/// The first clusters of `best` over their GPU counts: the efficiency with its band and, where money and samples are
/// counted, the cost over the time. Empty where no cluster has two counts.
std::vector<Chart> choice_charts(const Choice& choice, const std::vector<Alternative>& best);

}  // namespace hbench
