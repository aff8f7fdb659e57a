#pragma once

/// A rule as JSON, as it is printed and stored.

#include <string>
#include <string_view>

#include "analysis/track/judge.hpp"

namespace hbench {

std::string rule_json(const TrackRule& rule);
/// What a later version adds is left at its default. \throws Error (wrong_data) for text that is no such JSON.
TrackRule parse_rule(std::string_view json);

}  // namespace hbench
