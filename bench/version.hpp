#pragma once

#include <string>

namespace hbench {

/// Returns what `--version` prints: version, commit, compiler, and the libraries that the worker was built with.
std::string version_text();

}  // namespace hbench
