#pragma once

/// Text parameters of fusion policies: fields separated by colons, each a size, a time or a rate.

#include <string>
#include <string_view>
#include <vector>

#include "collectives/fusion/fusion.hpp"

namespace hbench {

/// The values of `given`, completed from `fusion.defaults`: whole bytes, seconds in whole nanoseconds, or whole
/// bytes per second, whichever the field's default is. \throws Error (usage) that names the field and the right form.
std::vector<double> read_parameters(const Fusion& fusion, std::string_view given);

/// The complete canonical text of `given`: equal texts are equal policies. \throws as `read_parameters`.
std::string canonical_parameters(const Fusion& fusion, std::string_view given);

}  // namespace hbench
