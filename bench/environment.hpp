#pragma once

#include <map>
#include <string>

namespace hbench {

/// Facts about this machine that results depend on: an allow-list, never the whole environment.
std::map<std::string, std::string> environment_facts();

/// Cores this process may use.
int available_cores();

}  // namespace hbench
