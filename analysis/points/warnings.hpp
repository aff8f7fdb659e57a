#pragma once

/// What makes a measured point doubtful. Pure.

#include <string>
#include <vector>

#include "analysis/points/point.hpp"

namespace hbench {

/// A sentence without its full stop for each thing that speaks against `point`, which was made of `result`: an
/// efficiency above 100 % by more than its interval, launches of which the first and the last differ, a machine that
/// was busy with other things, a throttled GPU, slow launches and steps, launches that were lost.
std::vector<std::string> warnings_of(const Point& point, const CaseResult& result);

}  // namespace hbench
