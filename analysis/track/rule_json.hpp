#pragma once

/// A rule as JSON, as it is printed and stored.

#include <string>

#include "analysis/track/judge.hpp"

namespace hbench {

std::string rule_json(const TrackRule& rule);

}  // namespace hbench
