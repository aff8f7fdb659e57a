#pragma once

/// What this host calls itself, and what time it has.

#include <string>
#include <string_view>

#include "collectives/base/units.hpp"

namespace hbench {

/// This host's own name, as the system gives it: with or without a domain.
std::string own_host_name();

/// The name without its domain.
std::string_view short_host_name(std::string_view name);

/// Since 1970, by the clock that people set: what hosts and runs can be compared by.
Seconds wall_clock();

}  // namespace hbench
