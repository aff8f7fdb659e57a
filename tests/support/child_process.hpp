#pragma once

#include <functional>
#include <string>

namespace hbench {

/// Runs `body` in a forked process and returns what it returned; `killed by signal N` when it did not.
/// An `Error` within gives `<exit code>: <message>`.
std::string in_child(const std::function<std::string()>& body);

/// Gives up root's rights, which ignore permissions; for use in a child.
void become_nobody();

}  // namespace hbench
