#pragma once

#include <string>
#include <string_view>

namespace hbench {

/// This host's own name, as the system gives it: with or without a domain.
std::string own_host_name();

/// The name without its domain.
std::string_view short_host_name(std::string_view name);

}  // namespace hbench
