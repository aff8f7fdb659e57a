#pragma once

/// Profiles side by side, as a table for people and as JSON for machines.

#include <string>
#include <vector>

#include "collectives/network/profile.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

Table profile_table(const std::vector<Profile>& profiles);
/// An array of objects: name, title, provider, GPU, nodes, rates in bytes/s, price with its terms, assumed figures.
std::string profiles_json(const std::vector<Profile>& profiles, Form form = Form::values);

}  // namespace hbench
